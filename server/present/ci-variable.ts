import { z } from 'zod';
import type { CiVariableRow } from '../queries/ci-variables.ts';

/** Interface: "Build variable". */
export const CiVariableJson = z.strictObject({ key: z.string(), value: z.string() });

export function presentCiVariable({ key }: CiVariableRow, value: string): z.infer<typeof CiVariableJson> {
  return { key, value };
}
