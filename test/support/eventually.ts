/** Polls a condition, for what offers no event to wait on. Throws when it does not come true within 30 seconds. */
export async function eventually(condition: () => boolean | Promise<boolean>): Promise<void> {
  for (const deadline = Date.now() + 30_000; Date.now() < deadline; ) {
    if (await condition()) return;
    await new Promise((resolve) => setTimeout(resolve, 20));
  }
  throw new Error(`it never came true: ${condition}`);
}
