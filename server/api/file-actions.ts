import { z } from 'zod';
import type { FileAction } from '../actions/change-tree.ts';
import { invalid, missing } from '../errors.ts';
import { anything, choice, optional, type Param, readParams, revision, text } from '../http/params.ts';
import { content, encoding, readContent } from './file-content.ts';

const words = ['create', 'update', 'delete', 'move'] as const;
/** Of one commit. */
const most = 1000;

const ActionJson = z.object({
  action: z.enum(words),
  file_path: z.string(),
  previous_path: z.string().optional(),
  content: z.string().optional(),
  encoding: z.enum(['text', 'base64']).optional(),
  last_commit_id: z.string().optional(),
});

/** Changes of files, as a list of maps or, of forms, as a map of such by their numbers. */
export function fileActions(): Param<FileAction[]> {
  return {
    ...anything(),
    schema: z.array(ActionJson),
    read(raw, name) {
      const list = Array.isArray(raw) ? raw : isMap(raw) ? Object.values(raw) : null;
      if (list === null) throw invalid({ [name]: ['is invalid'] });
      if (list.length === 0) throw missing(name);
      if (list.length > most) throw invalid({ [name]: [`is too long (maximum is ${most} items)`] });
      return list.map((item, index) => readAction(item, `${name}[${index}]`));
    },
  };
}

function readAction(item: unknown, name: string): FileAction {
  if (!isMap(item)) throw invalid({ [name]: ['is invalid'] });
  const named = <T>(key: string, param: Param<T>): T => {
    const full = `${name}[${key}]`;
    return readParams({ [full]: param }, { [full]: item[key] })[full] as T;
  };
  const action = named('action', choice(words));
  const path = named('file_path', text({ max: 4096 }));
  const lastCommitId = named('last_commit_id', optional(revision()));
  const bytes = () => {
    const sent = named('content', content({ mayBeEmpty: true }));
    return readContent(sent, named('encoding', encoding()), `${name}[content]`);
  };
  if (action === 'create') return { action, path, content: bytes() };
  if (action === 'update') return { action, path, content: bytes(), lastCommitId };
  if (action === 'delete') return { action, path, lastCommitId };
  const previousPath = named('previous_path', text({ max: 4096 }));
  const isKept = item.content === undefined || item.content === null;
  return { action, path, previousPath, content: isKept ? undefined : bytes(), lastCommitId };
}

function isMap(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}
