interface ShownFile {
  /** Media type. */
  type: string;
  /** In bytes. */
  size: number;
  /** The header, as `contentDisposition` makes it. */
  disposition: string;
}

/** Of what somebody wrote: whatever is in there, it runs nothing with the rights of whoever looks at it. */
export function shownHeaders({ type, size, disposition }: ShownFile): Record<string, string> {
  return {
    'Content-Type': type,
    'Content-Length': String(size),
    'Content-Disposition': disposition,
    'Content-Security-Policy': "default-src 'none'; sandbox",
    'X-Content-Type-Options': 'nosniff',
    'Cache-Control': 'private, no-cache',
  };
}
