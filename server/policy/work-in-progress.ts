const mark = /^(?:\s*(?:\[WIP\]|WIP:|WIP\s))+\s*/i;

/** Whether the title of a merge request says that it is not ready to be merged. */
export function isWorkInProgress(title: string): boolean {
  return mark.test(title);
}

/** The title without what says so, however often it does. */
export function withoutWorkInProgress(title: string): string {
  return title.replace(mark, '');
}
