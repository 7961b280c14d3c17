/** A list as SQL. Every value is a `$n` parameter; `order` must be total, so it ends with an id. */
export interface ListQuery {
  columns: string;
  /** Tables and `where`. */
  from: string;
  order: string;
  values: unknown[];
  /** Tables and `where` for counting, where the joins for the columns are not needed. */
  countFrom?: string;
  /** Values of `countFrom`, when they differ. */
  countValues?: unknown[];
}
