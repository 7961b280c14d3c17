/** What a change gives, without what it leaves as it is: two changes of different things do not undo each other. */
export function given<T extends object>(change: T): Partial<T> {
  const entries = Object.entries(change).filter(([, value]) => value !== undefined);
  return Object.fromEntries(entries) as Partial<T>;
}
