/** As the system says it, the database, and git, which has nothing but words. */
const fullCodes = new Set(['ENOSPC', 'EDQUOT', '53100']);
const fullTexts = /No space left on device|Disk quota exceeded/;

/** Whether there was no room to write, whoever wanted to. */
export function isDiskFull(error: unknown): boolean {
  for (let at: unknown = error; at instanceof Error; at = at.cause) {
    if (fullCodes.has(String((at as NodeJS.ErrnoException).code)) || fullTexts.test(at.message)) return true;
  }
  return false;
}
