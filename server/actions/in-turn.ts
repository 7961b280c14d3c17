/** The end of the last one in each row. */
const rows = new Map<string, Promise<void>>();

/**
 * Lets what this process does in one place happen one after the other. A help only, so that its own requests do not
 * get in each other's way: other processes know nothing of it, and who has waited for `waitMs` goes on as well.
 */
export async function inTurn<T>(place: string, waitMs: number, run: () => Promise<T>): Promise<T> {
  const before = rows.get(place);
  const result = before === undefined ? run() : endOrTime(before, waitMs).then(run);
  const end = result.then(
    () => undefined,
    () => undefined,
  );
  rows.set(place, end);
  try {
    return await result;
  } finally {
    if (rows.get(place) === end) rows.delete(place);
  }
}

function endOrTime(end: Promise<void>, ms: number): Promise<void> {
  return new Promise((resolve) => {
    const timer = setTimeout(resolve, ms);
    void end.then(() => {
      clearTimeout(timer);
      resolve();
    });
  });
}
