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
  /** How the rows of `countFrom` are counted, when not one by one. */
  countAs?: string;
  /** For long lists: where a page is found before anything is read of its rows. */
  index?: PageIndex;
}

export interface PageIndex {
  /** The column by which the rows of a page are found again in `from`, which then has no `where`. */
  key: string;
  /** Tables and `where`, as few as the order and the conditions need. */
  from: string;
  /** The order backwards: pages beyond the middle are looked for from the end. */
  backwards: string;
}
