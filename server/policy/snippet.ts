import { visibilityLevels } from '../../shared/access-level.ts';
import type { ViewerFacts } from './project.ts';

export interface SnippetWords {
  title?: string | undefined;
  fileName?: string | undefined;
}

/** What is wrong with those that are given, by the names of the interface; empty when nothing is. */
export function snippetFaults({ title = '', fileName = '' }: SnippetWords): Record<string, string[]> {
  const found = { title: lengthFaults(title), file_name: fileNameFaults(fileName) };
  return Object.fromEntries(Object.entries(found).filter(([, texts]) => texts.length > 0));
}

function fileNameFaults(name: string): string[] {
  const isPlain = /^[a-zA-Z0-9_.@-]*$/.test(name);
  return isPlain
    ? lengthFaults(name)
    : ["can contain only letters, digits, '_', '-', '@' and '.'.", ...lengthFaults(name)];
}

function lengthFaults(text: string): string[] {
  return text.length > 255 ? ['is too long (maximum is 255 characters)'] : [];
}

/**
 * The least visibility level of snippets that the viewer sees although others wrote them.
 *
 * @param isMember whether he takes part in their project.
 */
export function leastSnippetLevel({ is_admin, external }: ViewerFacts, isMember: boolean): number {
  if (is_admin) return visibilityLevels.private;
  return external && !isMember ? visibilityLevels.public : visibilityLevels.internal;
}
