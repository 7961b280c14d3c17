import type { EntityManager } from '@mikro-orm/postgresql';
import { accessLevels } from '../../shared/access-level.ts';
import { sqlOne } from '../sql.ts';
import type { Letter, News } from './news.ts';

interface Place {
  name: string;
  full_path: string;
  /** Whoever did it, while his account is there. */
  by_name: string | null;
}

export interface Sender {
  /** Where the instance is reached, without a slash at the end. */
  baseUrl: string;
  /** Last part of the names of lists. */
  domain: string;
}

const project = `select coalesce(o.name, n.name) || ' / ' || p.name as name, n.path || '/' || p.path as full_path,
    (select b.name from users b where b.id = $2) as by_name
  from projects p join namespaces n on n.id = p.namespace_id left join users o on o.id = n.owner_id
  where p.id = $1 and not p.pending_delete`;

const group = `select n.name, n.path as full_path, (select b.name from users b where b.id = $2) as by_name
  from namespaces n where n.id = $1 and n.kind = 'group'`;

/** @returns null when the project or group is gone, and with it the news. */
export async function memberLetter(
  em: EntityManager,
  news: Extract<News, { kind: 'member' }>,
  sender: Sender,
): Promise<Letter | null> {
  const place = await sqlOne<Place>(em, news.in === 'project' ? project : group, [news.id, news.by]);
  if (!place) return null;
  const level = levelName(news.accessLevel);
  const url = `${sender.baseUrl}/${news.in === 'group' ? 'groups/' : ''}${place.full_path}`;
  return {
    fromName: place.by_name,
    subject: `${place.name} | You are now ${level}`,
    text: `You now have the access level ${level} in the ${news.in} ${place.name}.\n\n${url}\n`,
    headers: news.in === 'project' ? projectHeaders(news.id, place, sender) : {},
  };
}

/** @returns null when the project is gone. */
export async function projectMovedLetter(
  em: EntityManager,
  news: Extract<News, { kind: 'project_moved' }>,
  sender: Sender,
): Promise<Letter | null> {
  const place = await sqlOne<Place>(em, project, [news.projectId, news.by]);
  if (!place) return null;
  const url = `${sender.baseUrl}/${place.full_path}`;
  return {
    fromName: place.by_name,
    subject: `${place.name} | Project has a new address`,
    text: `The project ${news.oldPath} is now ${place.full_path}.

${url}

To let a clone follow, run this in it:

  git remote set-url origin ${url}.git
`,
    headers: projectHeaders(news.projectId, place, sender),
  };
}

/** By which mail of a project is sorted; the list has the name that mail clients expect of one. */
export function projectHeaders(
  id: number,
  { full_path }: Pick<Place, 'full_path'>,
  { baseUrl, domain }: Sender,
): Record<string, string> {
  const path = full_path.split('/').reverse().join('.');
  return {
    'X-GitLab-Project': full_path.split('/').at(-1) ?? '',
    'X-GitLab-Project-Id': String(id),
    'X-GitLab-Project-Path': full_path,
    'List-Id': `${full_path} <${id}.${path}.${domain}>`,
    'List-Archive': `<${baseUrl}/${full_path}>`,
  };
}

function levelName(level: number): string {
  return Object.entries(accessLevels).find(([, value]) => value === level)?.[0] ?? String(level);
}
