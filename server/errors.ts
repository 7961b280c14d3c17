/** `message` of an error body: a text, a list of texts, or property → texts (interface: "Errors"). */
export type ErrorMessage = string | string[] | { [property: string]: string[] | ErrorMessage };

interface AppErrorParts {
  status: number;
  message: ErrorMessage;
  headers?: Record<string, string>;
  cause?: unknown;
}

/** A failure that the caller is told about. Made by the factories below; turned into a body in http/respond.ts. */
export class AppError extends Error {
  readonly status: number;
  readonly body: ErrorMessage;
  readonly headers: Record<string, string>;

  constructor({ status, message, headers, cause }: AppErrorParts) {
    super(typeof message === 'string' ? message : JSON.stringify(message), { cause });
    this.name = 'AppError';
    this.status = status;
    this.body = message;
    this.headers = headers ?? {};
  }
}

/** No token, an unknown one, or one of a blocked user. */
export function unauthorized(headers?: Record<string, string>): AppError {
  return new AppError({ status: 401, message: '401 Unauthorized', headers });
}

export function forbidden(reason?: string): AppError {
  return new AppError({ status: 403, message: reason ? `403 Forbidden - ${reason}` : '403 Forbidden' });
}

export function notAdminForSudo(): AppError {
  return new AppError({ status: 403, message: '403 Forbidden: Must be admin to use sudo' });
}

export function unknownSudoUser(name: string): AppError {
  return new AppError({ status: 404, message: `404 Not Found: No user id or username for: ${name}` });
}

/**
 * @param name the kind of thing, for `404 <Name> Not Found`; without it, the text for a row that was looked up
 * by its id.
 */
export function notFound(name?: string): AppError {
  return new AppError({ status: 404, message: name ? `404 ${name} Not Found` : '404 Not found' });
}

/** The general "nothing here", as for an unknown path or an empty queue. */
export function nothingHere(): AppError {
  return new AppError({ status: 404, message: '404 Not Found' });
}

/** A thing that is not there, where the interface has a text of its own for it. */
export function noSuch(message: string): AppError {
  return new AppError({ status: 404, message });
}

/** A required attribute is absent or blank. */
export function missing(attribute: string): AppError {
  return new AppError({ status: 400, message: `400 (Bad request) "${attribute}" not given` });
}

export function badRequest(message: string): AppError {
  return new AppError({ status: 400, message });
}

/** Bytes that stand for no text: stored, they would not be what was sent. */
export function notText(): AppError {
  return badRequest('400 (Bad request) the request is not valid UTF-8');
}

/** Attributes that failed validation: property → texts. */
export function invalid(problems: Record<string, string[]>): AppError {
  return new AppError({ status: 400, message: problems });
}

/** As `invalid`, for a property that consists of several things: what each is called → its faults. */
export function invalidParts(property: string, parts: Record<string, Record<string, string[]>>): AppError {
  return new AppError({ status: 400, message: { [property]: parts } });
}

export function notAllowed(allow?: string): AppError {
  return new AppError({
    status: 405,
    message: '405 Method Not Allowed',
    headers: allow ? { Allow: allow } : {},
  });
}

/** An operation that cannot be done, where the interface has a text of its own for why. */
export function cannotBeDone(message: string): AppError {
  return new AppError({ status: 405, message });
}

/** An operation for which something has to be so first that is not. */
export function notAcceptable(message: string): AppError {
  return new AppError({ status: 406, message });
}

export function conflict(message: string | string[] = '409 Conflict'): AppError {
  return new AppError({ status: 409, message });
}

export function tooLarge(): AppError {
  return new AppError({ status: 413, message: '413 Request Entity Too Large' });
}

/** What is asked for is there, but cannot be given in this form; or what is sent makes no sense as a whole. */
export function unprocessable(message: string | string[]): AppError {
  return new AppError({ status: 422, message });
}

/** @param seconds until the next try may succeed. */
export function tooManyRequests(seconds: number): AppError {
  return new AppError({ status: 429, message: 'Retry later', headers: { 'Retry-After': String(seconds) } });
}

/** A trace part that does not start where the stored trace ends. */
export function rangeNotSatisfiable(length: number): AppError {
  return new AppError({
    status: 416,
    message: '416 Range Not Satisfiable',
    headers: { Range: `0-${length}` },
  });
}

/** Something that this server needs is away for the moment; the same request may succeed later. */
export function unavailable(cause?: unknown): AppError {
  return new AppError({
    status: 503,
    message: '503 Service Unavailable',
    headers: { 'Retry-After': '5' },
    cause,
  });
}

/** What git keeps of a project is damaged, or out of reach; somebody has to mend it. */
export function unreadableRepository(cause: unknown): AppError {
  return new AppError({
    status: 503,
    message: '503 Service Unavailable - the repository of this project cannot be read',
    cause,
  });
}

/** There is no room to write what was sent; the same request may succeed once somebody has made room. */
export function diskFull(cause?: unknown): AppError {
  return new AppError({
    status: 503,
    message: '503 Service Unavailable - the disk of the server is full',
    headers: { 'Retry-After': '60' },
    cause,
  });
}

/** A program that one kind of answer needs is not installed where the server runs. */
export function programMissing(program: string, cause: unknown): AppError {
  return new AppError({
    status: 503,
    message: `503 Service Unavailable - ${program} is not installed on the server`,
    cause,
  });
}
