/** Questions that are not put yet, of those who ask the same one whom. */
const waiting = new WeakMap<object, Map<string, Promise<unknown>>>();

/**
 * Questions of requests that arrived together: those who ask alike get one answer, which is looked for after all of
 * them have asked. So nobody gets to know what was true before his request came, and no longer is.
 *
 * @param asked whom, such as a database.
 * @param question which says all that `put` asks for, and what for.
 * @param put called for the first of those who ask alike, when all that has arrived by now has been read.
 */
export function together<T>(asked: object, question: string, put: () => Promise<T>): Promise<T> {
  const questions = waiting.get(asked) ?? new Map<string, Promise<unknown>>();
  waiting.set(asked, questions);
  const same = questions.get(question);
  if (same) return same as Promise<T>;
  const answer = new Promise<void>(afterMoreArrived).then(() => {
    questions.delete(question);
    return put();
  });
  questions.set(question, answer);
  return answer;
}

/** Two turns of the loop, for what comes while the first one is at work; alone, a request hardly notices. */
function afterMoreArrived(resolve: () => void): void {
  setImmediate(() => setImmediate(resolve));
}
