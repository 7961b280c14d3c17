export interface BrowserAnswer {
  status: number;
  headers: Headers;
  text: string;
  /** Of a redirect, as it came. */
  location: string | null;
}

export interface PageForm {
  method: string;
  action: string;
  fields: Record<string, string>;
  /** Names and values of its buttons. */
  buttons: { name: string; value: string }[];
}

/** As much of a browser as pages without programs need: cookies, forms, redirects that are followed by hand. */
export class Browser {
  readonly #url: string;
  readonly cookies = new Map<string, string>();
  /** The `Set-Cookie` lines of all answers. */
  readonly cookieLines: string[] = [];

  constructor(url: string) {
    this.#url = url;
  }

  async get(path: string): Promise<BrowserAnswer> {
    return this.send('GET', path);
  }

  async send(method: string, path: string, form?: Record<string, string>): Promise<BrowserAnswer> {
    const cookie = [...this.cookies].map(([name, value]) => `${name}=${value}`).join('; ');
    const response = await fetch(new URL(path, this.#url), {
      method,
      redirect: 'manual',
      headers: cookie === '' ? {} : { Cookie: cookie },
      ...(form ? { body: new URLSearchParams(form) } : {}),
    });
    for (const line of response.headers.getSetCookie()) this.#keep(line);
    const location = response.headers.get('location');
    return { status: response.status, headers: response.headers, text: await response.text(), location };
  }

  /** Sends a form of a page with what is filled in, by its first button unless told. */
  async submit(
    page: BrowserAnswer,
    filled: Record<string, string> = {},
    action?: string,
  ): Promise<BrowserAnswer> {
    const form = formsOf(page.text).find((one) => action === undefined || one.action === action);
    if (!form) throw new Error(`no such form on the page: ${page.text}`);
    const [button] = form.buttons;
    const pressed = button ? { [button.name]: button.value } : {};
    return this.send(form.method.toUpperCase(), form.action, { ...form.fields, ...pressed, ...filled });
  }

  #keep(line: string): void {
    this.cookieLines.push(line);
    const [, name = '', value = ''] = /^([^=]+)=([^;]*)/.exec(line) ?? [];
    if (value === '' || /expires=Thu, 01 Jan 1970/i.test(line)) this.cookies.delete(name);
    else this.cookies.set(name, value);
  }
}

/** The forms of a page as a browser would read them. */
export function formsOf(page: string): PageForm[] {
  return [...page.matchAll(/<form ([^>]*)>(.*?)<\/form>/gs)].map(([, head = '', body = '']) => ({
    method: attribute(head, 'method'),
    action: attribute(head, 'action'),
    fields: Object.fromEntries(
      [...body.matchAll(/<input ([^>]*)>/g)].map(([, text = '']) => [
        attribute(text, 'name'),
        attribute(text, 'value'),
      ]),
    ),
    buttons: [...body.matchAll(/<button (name=[^>]*)>/g)].map(([, text = '']) => ({
      name: attribute(text, 'name'),
      value: attribute(text, 'value'),
    })),
  }));
}

const characters: Record<string, string> = { amp: '&', lt: '<', gt: '>', quot: '"', '#39': "'" };

function attribute(text: string, name: string): string {
  const value = new RegExp(`(?:^| )${name}="([^"]*)"`).exec(text)?.[1] ?? '';
  return value.replace(/&(amp|lt|gt|quot|#39);/g, (_match, entity) => characters[entity] ?? '');
}
