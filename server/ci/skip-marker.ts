/** True when a commit message asks for no pipeline: `[ci skip]` or `[skip ci]`, in any case. */
export function skipMarker(message: string): boolean {
  return /\[(?:ci skip|skip ci)\]/i.test(message);
}
