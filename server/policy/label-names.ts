import { withoutTags } from './user-names.ts';

/** Of a label that nobody chose one for. */
export const usualLabelColor = '#428BCA';

/** A title as it is stored. */
export function labelTitle(given: string): string {
  return withoutTags(given.toWellFormed());
}

/** What is wrong with a stored title; empty when nothing is. Lists of labels are written with commas, in addresses. */
export function labelTitleFaults(title: string): string[] {
  if (title === '') return ["can't be blank"];
  if (title.length > 255) return ['is too long (maximum is 255 characters)'];
  return /[&?,]/.test(title) ? ['is invalid'] : [];
}

export function labelColorFaults(color: string): string[] {
  return /^#[0-9a-f]{6}$/i.test(color) ? [] : ['must be a valid color code'];
}
