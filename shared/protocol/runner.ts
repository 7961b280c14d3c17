import { z } from 'zod';

/** What a runner tells of itself; unknown keys are other programs' business and are dropped. */
export const RunnerInfo = z.object({
  name: z.string().max(255).optional(),
  version: z.string().max(255).optional(),
  revision: z.string().max(255).optional(),
  platform: z.string().max(255).optional(),
  architecture: z.string().max(255).optional(),
});
export type RunnerInfo = z.infer<typeof RunnerInfo>;

/** Answer of `POST runners/register`. */
export const RegisteredRunner = z.object({ id: z.number().int(), token: z.string() });
export type RegisteredRunner = z.infer<typeof RegisteredRunner>;
