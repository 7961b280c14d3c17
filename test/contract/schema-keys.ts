import { z } from 'zod';

/** Names of all keys that a shape allows, with the way to them: `owner.name`, `projects[].id`. */
export function keysOfShape(shape: z.ZodType): Set<string> {
  const keys = new Set<string>();
  collect(z.toJSONSchema(shape, { unrepresentable: 'any', io: 'input' }), '', keys);
  return keys;
}

type JsonSchema = z.core.JSONSchema.BaseSchema;

function collect(schema: JsonSchema, way: string, keys: Set<string>): void {
  for (const [name, inner] of Object.entries(schema.properties ?? {})) {
    keys.add(join(way, name));
    if (typeof inner === 'object') collect(inner, join(way, name), keys);
  }
  for (const choice of [...(schema.anyOf ?? []), ...(schema.oneOf ?? []), ...(schema.allOf ?? [])]) {
    if (typeof choice === 'object') collect(choice, way, keys);
  }
  if (typeof schema.items === 'object' && !Array.isArray(schema.items))
    collect(schema.items, `${way}[]`, keys);
}

/** The same of a value. */
export function keysOfValue(value: unknown): Set<string> {
  const keys = new Set<string>();
  visit(value, '', keys);
  return keys;
}

function visit(value: unknown, way: string, keys: Set<string>): void {
  if (Array.isArray(value)) {
    for (const item of value) visit(item, `${way}[]`, keys);
    return;
  }
  if (typeof value !== 'object' || value === null) return;
  for (const [name, inner] of Object.entries(value)) {
    keys.add(join(way, name));
    visit(inner, join(way, name), keys);
  }
}

function join(way: string, name: string): string {
  return way === '' ? name : `${way}.${name}`;
}
