import { namespacePathFaults } from './namespace-path.ts';

interface GroupWords {
  name: string;
  path: string;
  description: string;
}

const nameForm = /^[\p{L}\p{N}\p{Pd}_. ]*$/u;
const longest = 255;

/** What is wrong with what a group is called, by attribute; empty when nothing is. Whether it is free is not seen. */
export function groupFaults({ name, path, description }: GroupWords): Record<string, string[]> {
  const all = {
    name: nameFaults(name),
    path: namespacePathFaults(path),
    description: description.length > longest ? [tooLong] : [],
  };
  return Object.fromEntries(Object.entries(all).filter(([, texts]) => texts.length > 0));
}

const tooLong = `is too long (maximum is ${longest} characters)`;

function nameFaults(name: string): string[] {
  if (name.trim() === '') return ["can't be blank"];
  if (name.length > longest) return [tooLong];
  return nameForm.test(name) ? [] : ["can contain only letters, digits, '_', '.', dash and space."];
}
