import { type NoteableType, noteables } from '../queries/noteable.ts';
import type { Work } from '../services.ts';
import { sqlOne } from '../sql.ts';
import type { Happening } from './happening.ts';
import type { Letter } from './news.ts';
import { commentText } from './note-letters.ts';
import type { Sender } from './place-letters.ts';
import { firstLetter, laterLetter, type Thread, threadUrl } from './thread.ts';
import type { Topic } from './topic.ts';

interface Facts {
  iid: number;
  title: string;
  description: string | null;
  /** Of a merge request: `source into target`. */
  branches: string | null;
  project: { id: number; name: string; full_path: string };
  by_name: string | null;
  assignee_name: string | null;
  previous_name: string | null;
  /** Titles of the labels that were added and are there. */
  added: string[];
  /** `namespace/path` of the project where it goes on, and its number there; null where that is not told. */
  new_place: { full_path: string; iid: number } | null;
}

/** Of the thing `$1`: who did it is `$2`, who had it before `$3`, labels `$4`, and the issue with which it goes on `$5`. */
function factsOf(type: NoteableType): string {
  const branches = type === 'Issue' ? 'null' : `t.source_branch || ' into ' || t.target_branch`;
  return `select t.iid, t.title, t.description, ${branches} as branches,
      json_build_object('id', p.id, 'name', p.name, 'full_path', n.path || '/' || p.path) as project,
      (select u.name from users u where u.id = $2) as by_name, a.name as assignee_name,
      (select u.name from users u where u.id = $3) as previous_name,
      array(select l.title from labels l where l.id = any($4::int[]) order by l.title) as added,
      (select json_build_object('full_path', nn.path || '/' || np.path, 'iid', i.iid)
        from issues i join projects np on np.id = i.project_id join namespaces nn on nn.id = np.namespace_id
        where i.id = $5) as new_place
    from ${noteables[type].table} t join projects p on p.id = t.project_id join namespaces n on n.id = p.namespace_id
      left join users a on a.id = t.assignee_id
    where t.id = $1`;
}

const find = { Issue: factsOf('Issue'), MergeRequest: factsOf('MergeRequest') };

interface Told {
  topic: Extract<Topic, { type: NoteableType }>;
  happening: Happening;
  /** Id of the issue with which one that was moved goes on, for those who may know. */
  shownId: number | null;
}

/** @returns null when it is gone, or the labels are of which it tells. */
export async function noteableLetter(work: Work, told: Told, sender: Sender): Promise<Letter | null> {
  const { topic, happening, shownId } = told;
  const previous = happening.kind === 'reassigned' ? happening.previousAssigneeId : null;
  const labelIds = happening.kind === 'labelled' ? happening.labelIds : [];
  const values = [topic.id, happening.by, previous, labelIds, shownId];
  const facts = await sqlOne<Facts>(work.em, find[topic.type], values);
  if (!facts || (happening.kind === 'labelled' && facts.added.length === 0)) return null;
  const thread = threadOf(topic, facts);
  const url = threadUrl(thread, sender);
  const { note } = topic;
  if (note) {
    const text = commentText(note, url);
    return laterLetter(thread, { fromName: note.author.name, text }, sender);
  }
  const text = `${paragraphs({ topic, happening, facts, sender }).join('\n\n')}\n\n${url}\n`;
  const letter = { fromName: facts.by_name, text };
  return happening.kind === 'opened'
    ? firstLetter(thread, letter, sender)
    : laterLetter(thread, letter, sender);
}

const kinds = {
  Issue: { word: 'issue', mark: '#', name: 'issue', header: 'Issue-ID', path: 'issues' },
  MergeRequest: {
    word: 'merge request',
    mark: '!',
    name: 'merge_request',
    header: 'MergeRequest-ID',
    path: 'merge_requests',
  },
} as const;

function threadOf({ type, id }: Told['topic'], { iid, title, project }: Facts): Thread {
  const { mark, name, header, path } = kinds[type];
  return {
    project,
    name: `${name}_${id}`,
    subject: `${title} (${mark}${iid})`,
    sorting: [header, String(id)],
    path: `${path}/${iid}`,
  };
}

interface Saying extends Omit<Told, 'shownId'> {
  facts: Facts;
  sender: Sender;
}

function paragraphs({ topic, happening, facts, sender }: Saying): string[] {
  const who = facts.by_name ?? 'Somebody';
  const { word, mark } = kinds[topic.type];
  const what = `${word} ${mark}${facts.iid}`;
  switch (happening.kind) {
    case 'opened':
      return openedText(`${who} opened ${what}: ${facts.title}`, facts);
    case 'reassigned':
      return [`${who} ${assignment(what, facts)}.`];
    case 'labelled':
      return [`${who} labelled ${what} with ${facts.added.map((title) => `"${title}"`).join(', ')}.`];
    case 'moved':
      return movedText(`${who} moved ${what} to another project.`, facts, sender);
    default:
      return [`${who} ${happening.kind} ${what}.`];
  }
}

function openedText(first: string, { branches, assignee_name, description }: Facts): string[] {
  const lines = [
    ...(branches === null ? [] : [`Merges ${branches}`]),
    ...(assignee_name === null ? [] : [`Assigned to ${assignee_name}`]),
  ];
  return [first, lines.join('\n'), description?.trim() ?? ''].filter((text) => text !== '');
}

function assignment(what: string, { assignee_name, previous_name }: Facts): string {
  const from = previous_name === null ? '' : ` from ${previous_name}`;
  if (assignee_name === null) return `took ${what}${from === '' ? ' from its assignee' : from}`;
  return from === ''
    ? `assigned ${what} to ${assignee_name}`
    : `reassigned ${what}${from} to ${assignee_name}`;
}

function movedText(first: string, { new_place }: Facts, { baseUrl }: Sender): string[] {
  if (!new_place) return [first];
  return [first, `It goes on here:\n${baseUrl}/${new_place.full_path}/issues/${new_place.iid}`];
}
