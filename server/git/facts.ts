import { LRUCache } from 'lru-cache';

/**
 * Remembers what was found out about commits. An id says everything that came before the commit, so that an answer
 * stays true for ever, and in every repository that has the commit.
 */
export class Facts<T extends NonNullable<unknown>> {
  private readonly known: LRUCache<string, T>;
  private readonly sought = new Map<string, Promise<T>>();

  /** @param weigh bytes that a fact takes, roughly and without its key. */
  constructor({ maxBytes, weigh }: { maxBytes: number; weigh: (fact: T) => number }) {
    const sizeCalculation = (fact: T, key: string) => 100 + key.length + weigh(fact);
    this.known = new LRUCache({ maxSize: maxBytes, sizeCalculation });
  }

  peek(key: string): T | undefined {
    return this.known.get(key);
  }

  note(key: string, fact: T): void {
    this.known.set(key, fact);
  }

  /** Those who ask at the same time wait for one answer; a search that fails is not remembered. */
  async find(key: string, search: () => Promise<T>): Promise<T> {
    const known = this.known.get(key);
    if (known !== undefined) return known;
    const sought = this.sought.get(key) ?? this.start(key, search);
    return sought;
  }

  private start(key: string, search: () => Promise<T>): Promise<T> {
    const sought = search()
      .then((fact) => {
        this.known.set(key, fact);
        return fact;
      })
      .finally(() => this.sought.delete(key));
    this.sought.set(key, sought);
    return sought;
  }
}
