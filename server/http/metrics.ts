import type { Context, Next } from 'koa';
import { Counter, collectDefaultMetrics, Histogram, Registry } from 'prom-client';
import type { Endpoint } from './endpoint.ts';

/** Counters of one server process in Prometheus text form. */
export class Metrics {
  readonly registry = new Registry();
  readonly #seconds: Histogram<'method' | 'route' | 'status'>;
  readonly #open: Counter<'method'>;

  constructor() {
    collectDefaultMetrics({ register: this.registry });
    this.#seconds = new Histogram({
      name: 'hearth_http_request_seconds',
      help: 'Time from the first byte of a request to the end of its answer',
      labelNames: ['method', 'route', 'status'],
      buckets: [0.001, 0.005, 0.01, 0.05, 0.1, 0.5, 1, 5, 60],
      registers: [this.registry],
    });
    this.#open = new Counter({
      name: 'hearth_http_requests_total',
      help: 'Requests received',
      labelNames: ['method'],
      registers: [this.registry],
    });
  }

  /** Measures every request under its declared route, never under its path: paths are without number. */
  middleware() {
    return async (ctx: Context, next: Next): Promise<void> => {
      const method = ctx.method;
      this.#open.inc({ method });
      const end = this.#seconds.startTimer();
      ctx.res.once('close', () => {
        const route = (ctx.state.endpoint as Endpoint | undefined)?.path ?? 'other';
        end({ method, route, status: String(ctx.status) });
      });
      await next();
    };
  }
}
