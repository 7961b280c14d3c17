import {
  type BroadcastMessageChange,
  createBroadcastMessage,
  updateBroadcastMessage,
} from '../actions/broadcast-messages.ts';
import { invalid, notFound } from '../errors.ts';
import { admin } from '../http/access.ts';
import { type Endpoint, endpoint } from '../http/endpoint.ts';
import { paginate } from '../http/paginate.ts';
import { optional, type Param, pathId, text, timestamp, type Values } from '../http/params.ts';
import { BroadcastMessageJson, presentBroadcastMessage } from '../present/broadcast-message.ts';
import {
  type BroadcastMessageRow,
  broadcastMessageById,
  broadcastMessages,
} from '../queries/broadcast-messages.ts';
import type { Work } from '../services.ts';
import { sql } from '../sql.ts';

function color(): Param<string | undefined> {
  const given = text({ max: 255 });
  return optional({
    ...given,
    read(raw, name) {
      const value = given.read(raw, name);
      if (!/^#(?:[0-9a-f]{3}|[0-9a-f]{6})$/i.test(value)) {
        throw invalid({ [name]: ['must be a valid color code'] });
      }
      return value;
    },
  });
}

const attributes = {
  starts_at: optional(timestamp()),
  ends_at: optional(timestamp()),
  color: color(),
  font: color(),
};

const list = endpoint({
  method: 'GET',
  path: '/broadcast_messages',
  summary: 'Messages to everybody, newest first',
  access: admin(),
  returns: BroadcastMessageJson,
  list: true,
  async run({ page, work }) {
    const found = await paginate<BroadcastMessageRow>(work.em, broadcastMessages, page);
    return found.map(presentBroadcastMessage);
  },
});

const get = endpoint({
  method: 'GET',
  path: '/broadcast_messages/:id',
  summary: 'One message to everybody',
  access: admin(),
  params: { id: pathId() },
  returns: BroadcastMessageJson,
  run: ({ params, work }) => present(work, params.id),
});

const post = endpoint({
  method: 'POST',
  path: '/broadcast_messages',
  summary: 'Shows everybody a message for a while',
  access: admin(),
  params: { message: text(), ...attributes },
  returns: BroadcastMessageJson,
  async run({ params, work }) {
    const id = await createBroadcastMessage(work, { ...changeOf(params), message: params.message });
    return present(work, id);
  },
});

const put = endpoint({
  method: 'PUT',
  path: '/broadcast_messages/:id',
  summary: 'Changes a message to everybody',
  access: admin(),
  params: { id: pathId(), message: optional(text()), ...attributes },
  returns: BroadcastMessageJson,
  async run({ params, work }) {
    const change = { ...changeOf(params), message: params.message };
    if (!(await updateBroadcastMessage(work, params.id, change))) throw notFound();
    return present(work, params.id);
  },
});

const remove = endpoint({
  method: 'DELETE',
  path: '/broadcast_messages/:id',
  summary: 'Removes a message to everybody',
  access: admin(),
  params: { id: pathId() },
  returns: BroadcastMessageJson,
  async run({ params, work }) {
    const removed = await present(work, params.id);
    await sql(work.em, 'delete from broadcast_messages where id = $1', [params.id]);
    return removed;
  },
});

export const endpoints: Endpoint[] = [list, get, post, put, remove];

function changeOf(given: Values<typeof attributes>): BroadcastMessageChange {
  return { startsAt: given.starts_at, endsAt: given.ends_at, color: given.color, font: given.font };
}

async function present(work: Work, id: number) {
  const row = await broadcastMessageById(work.em, id);
  if (!row) throw notFound();
  return presentBroadcastMessage(row);
}
