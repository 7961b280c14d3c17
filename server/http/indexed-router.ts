import Router, { type Layer } from '@koa/router';

type Match = ReturnType<Router['match']>;

/**
 * A router that tries few of its routes on a path, however many it has: those whose words at two telling places,
 * `projects` and `builds` of `/projects/:id/builds`, are the words of the path. All are registered before the first
 * request.
 */
export class IndexedRouter extends Router {
  readonly #places: readonly [number, number];
  readonly #index = new Map<string, Layer[]>();
  #words: ReadonlySet<string | null> | null = null;

  /** @param prefix of all its routes. */
  constructor(prefix: string) {
    super({ prefix });
    const first = prefix.split('/').length;
    this.#places = [first, first + 2];
  }

  /** The routes of a path in the order in which they were registered. */
  override match(path: string, method: string): Match {
    const matched = this.#near(path).filter((layer) => layer.match(path));
    const pathAndMethod = matched.filter(({ methods }) => methods.includes(method));
    return { path: matched, pathAndMethod, route: pathAndMethod.length > 0 };
  }

  #near(path: string): Layer[] {
    this.#words ??= new Set(this.stack.flatMap((layer) => this.#wordsOf(layer)));
    const segments = path.toLowerCase().split('/', this.#places[1] + 1);
    const words = this.#places.map((place) => this.#known(segments[place]));
    const key = words.join('/');
    let layers = this.#index.get(key);
    if (!layers) {
      layers = this.stack.filter((layer) =>
        this.#wordsOf(layer).every((word, at) => word === null || word === words[at]),
      );
      this.#index.set(key, layers);
    }
    return layers;
  }

  /** What is no word of any route can only stand for a name, and names are without number. */
  #known(segment = ''): string {
    return this.#words?.has(segment) ? segment : '';
  }

  /** The words of a route at the telling places; null where anything can stand. */
  #wordsOf({ path }: Layer): (string | null)[] {
    const segments = String(path).toLowerCase().split('/');
    const open = segments.findIndex((segment) => segment.startsWith('*'));
    return this.#places.map((place) => {
      const segment = segments[place] ?? '';
      return segment.startsWith(':') || (open !== -1 && open <= place) ? null : segment;
    });
  }
}
