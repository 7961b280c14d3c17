import { addCiVariable, changeCiVariable, removeCiVariable } from '../actions/ci-variables.ts';
import { notFound } from '../errors.ts';
import { onProject } from '../http/access.ts';
import { type Endpoint, endpoint } from '../http/endpoint.ts';
import { paginate } from '../http/paginate.ts';
import { pathText, text } from '../http/params.ts';
import { CiVariableJson, presentCiVariable } from '../present/ci-variable.ts';
import { type CiVariableRow, findCiVariable, listCiVariables } from '../queries/ci-variables.ts';
import type { Work } from '../services.ts';

const list = endpoint({
  method: 'GET',
  path: '/projects/:id/variables',
  summary: 'Variables that every build of the project gets',
  access: onProject('admin_ci'),
  returns: CiVariableJson,
  list: true,
  async run({ project, page, work }) {
    const rows = await paginate<CiVariableRow>(work.em, listCiVariables(project.id), page);
    return rows.map((row) => presentOpened(work, row));
  },
});

const get = endpoint({
  method: 'GET',
  path: '/projects/:id/variables/:key',
  summary: 'One variable',
  access: onProject('admin_ci'),
  params: { key: pathText() },
  returns: CiVariableJson,
  async run({ project, params, work }) {
    return presentOpened(work, await requireVariable(work, project.id, params.key));
  },
});

const create = endpoint({
  method: 'POST',
  path: '/projects/:id/variables',
  summary: 'Gives the project a variable; its value is kept encrypted',
  access: onProject('admin_ci'),
  params: { key: text({ max: 1024 }), value: text() },
  returns: CiVariableJson,
  async run({ project, params, work }) {
    await addCiVariable(work, project.id, params);
    return { key: params.key, value: params.value };
  },
});

const update = endpoint({
  method: 'PUT',
  path: '/projects/:id/variables/:key',
  summary: 'Changes the value of a variable; a blank one leaves it as it is',
  access: onProject('admin_ci'),
  params: { key: pathText(), value: { ...text(), keepBlank: true } },
  returns: CiVariableJson,
  async run({ project, params, work }) {
    const row = await requireVariable(work, project.id, params.key);
    if (params.value.trim() !== '') await changeCiVariable(work, row, params.value);
    return presentOpened(work, await requireVariable(work, project.id, params.key));
  },
});

const remove = endpoint({
  method: 'DELETE',
  path: '/projects/:id/variables/:key',
  summary: 'Takes a variable from the project',
  access: onProject('admin_ci'),
  params: { key: pathText() },
  returns: CiVariableJson,
  async run({ project, params, work }) {
    const row = await requireVariable(work, project.id, params.key);
    await removeCiVariable(work, row);
    return presentOpened(work, row);
  },
});

export const endpoints: Endpoint[] = [list, get, create, update, remove];

async function requireVariable(work: Work, projectId: number, key: string): Promise<CiVariableRow> {
  const row = await findCiVariable(work.em, projectId, key);
  if (!row) throw notFound('Variable');
  return row;
}

function presentOpened(work: Work, row: CiVariableRow) {
  return presentCiVariable(row, work.secrets.open(row.value_sealed));
}
