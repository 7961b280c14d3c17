import type { Answer, TestApp } from './app.ts';

/** Calls of the consumer's interface: `Shape` is what most answers of a test file look like. */
export function apiCalls<Shape>(holder: { app: TestApp }) {
  /** @param as private token. */
  return function call<T = Shape>(
    method: string,
    path: string,
    as: string | undefined,
    json?: Record<string, unknown>,
  ): Promise<Answer<T>> {
    return holder.app.call<T>(method, `/api/v3${path}`, { as, json });
  };
}

/** What the body of an error says. */
export function messageOf(answer: Answer): unknown {
  return (answer.body as { message: unknown }).message;
}

/** Statuses in ascending order, where it does not matter who got which. */
export function statusesOf(answers: Answer[]): number[] {
  return answers.map(({ status }) => status).sort();
}
