/**
 * A build that cannot go on for a reason outside its script. `user`: the job or the config file asks for
 * something impossible, so trying again is useless. `system`: the place it runs in has a fault.
 */
export class ExecutorError extends Error {
  readonly kind: 'system' | 'user';

  constructor(kind: 'system' | 'user', message: string, options?: ErrorOptions) {
    super(message, options);
    this.name = 'ExecutorError';
    this.kind = kind;
  }
}
