/**
 * Replaces `$NAME` and `${NAME}` by what `lookup` knows, unknown names by nothing, and `$$` by one dollar
 * sign. One pass: what has been put in is not looked at again. A sign that starts no name is kept.
 */
export function expandVariables(text: string, lookup: (name: string) => string | undefined): string {
  return text.replace(
    /\$(?:(\$)|\{([A-Za-z_][A-Za-z0-9_]*)\}|([A-Za-z_][A-Za-z0-9_]*))/g,
    (_match, sign: string | undefined, braced: string | undefined, bare: string | undefined) => {
      if (sign !== undefined) return sign;
      return lookup(braced ?? bare ?? '') ?? '';
    },
  );
}

/** Writes a text so that `expandVariables` gives it back unchanged. */
export function escapeVariables(text: string): string {
  return text.replaceAll('$', '$$$$');
}
