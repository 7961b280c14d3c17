import { z } from 'zod';

/** No NUL: the database stores none. */
const infoText = z
  .string()
  .max(255)
  .refine((value) => !value.includes('\0'));

/** What a runner tells of itself; unknown keys are other programs' business and are dropped. */
export const RunnerInfo = z.object({
  name: infoText.optional(),
  version: infoText.optional(),
  revision: infoText.optional(),
  platform: infoText.optional(),
  architecture: infoText.optional(),
});
export type RunnerInfo = z.infer<typeof RunnerInfo>;

/** Answer of `POST runners/register`. */
export const RegisteredRunner = z.object({ id: z.number().int(), token: z.string() });
export type RegisteredRunner = z.infer<typeof RegisteredRunner>;
