import { createHash } from 'node:crypto';
import type { Context } from 'koa';
import { AppError } from '../errors.ts';
import { type Html, html } from './html.ts';

const style = `body { margin: 10vh auto; max-width: 26rem; padding: 0 1rem; font: 1rem/1.5 system-ui, sans-serif; }
label, input { display: block; width: 100%; box-sizing: border-box; }
input { margin: .2rem 0 1rem; padding: .5rem; font: inherit; }
button { margin-right: .5rem; padding: .5rem 1rem; font: inherit; }
code { overflow-wrap: anywhere; }
.fault { color: #a40000; }`;
const styleHash = createHash('sha256').update(style).digest('base64');

interface Page {
  title: string;
  body: Html;
  status?: number;
  /** Where its forms lead beside this server, after a redirect too: a source of a content policy. */
  formTarget?: string | undefined;
}

/**
 * Answers with a page of our own. It is never kept, never framed, runs nothing, loads nothing, and tells no other
 * server where it was.
 */
export function showPage(ctx: Context, { title, body, status = 200, formTarget = '' }: Page): void {
  const document = html`<!doctype html>
<html lang="en"><head><meta charset="utf-8"><meta name="viewport" content="width=device-width">
<title>${title} · Hearth</title><style>${style}</style></head>
<body><main><h1>${title}</h1>${body}</main></body></html>
`;
  ctx.status = status;
  ctx.body = document.text;
  guardPage(ctx);
  ctx.set({
    'Content-Type': 'text/html; charset=utf-8',
    'Content-Security-Policy': [
      `default-src 'none'; style-src 'sha256-${styleHash}'; base-uri 'none'; frame-ancestors 'none'`,
      `form-action 'self' ${formTarget}`.trim(),
    ].join('; '),
  });
}

/** Also for redirects: what their address holds is for one reader. */
export function guardPage(ctx: Context): void {
  ctx.set({
    'Cache-Control': 'no-store',
    'Referrer-Policy': 'no-referrer',
    'X-Content-Type-Options': 'nosniff',
    'X-Frame-Options': 'DENY',
  });
}

/** Says of a request that cannot be served on a page why; faults of the server go on. */
export async function pageErrors(ctx: Context, run: () => Promise<void>): Promise<void> {
  try {
    await run();
  } catch (error) {
    if (!(error instanceof AppError) || error.status >= 500) throw error;
    showPage(ctx, { title: 'This did not work', body: html`<p>${error.message}</p>`, status: error.status });
    ctx.set(error.headers);
  }
}
