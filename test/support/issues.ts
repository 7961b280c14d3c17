import { apiCalls } from './api-calls.ts';
import type { Answer, TestApp } from './app.ts';

export interface IssueAnswer {
  id: number;
  iid: number;
  project_id: number;
  title: string;
  description: string | null;
  state: string;
  created_at: string;
  updated_at: string;
  labels: string[];
  milestone: { id: number; title: string; project_id: number } | null;
  assignee: { id: number } | null;
  author: { id: number };
  subscribed: boolean;
  user_notes_count: number;
}

/** Calls about issues, and looks at what is kept of them. */
export function issueCalls(holder: { app: TestApp }) {
  const call = apiCalls<IssueAnswer>(holder);
  const rows = <T>(text: string, values: unknown[]) => holder.app.rows<T>(text, values);
  return {
    call,
    /** @param as private token. */
    add(
      project: { id: number },
      as: string,
      json: Record<string, unknown> = {},
    ): Promise<Answer<IssueAnswer>> {
      return call('POST', `/projects/${project.id}/issues`, as, { title: 'An issue', ...json });
    },
    change(
      issue: { id: number; project_id: number },
      as: string,
      json: Record<string, unknown>,
    ): Promise<Answer<IssueAnswer>> {
      return call('PUT', `/projects/${issue.project_id}/issues/${issue.id}`, as, json);
    },
    read(issue: { id: number; project_id: number }, as: string): Promise<Answer<IssueAnswer>> {
      return call('GET', `/projects/${issue.project_id}/issues/${issue.id}`, as);
    },
    /** Bodies of the notes on an issue, oldest first. */
    async notesOn({ id }: { id: number }): Promise<string[]> {
      const text = `select body from notes where noteable_type = 'Issue' and noteable_id = $1 order by id`;
      return (await rows<{ body: string }>(text, [id])).map(({ body }) => body);
    },
    /** What the project's activity says of an issue, oldest first. */
    async eventsOf({ id }: { id: number }): Promise<string[]> {
      const text = `select action from events where target_type = 'Issue' and target_id = $1 order by id`;
      return (await rows<{ action: string }>(text, [id])).map(({ action }) => action);
    },
    async openIssuesOf(project: { id: number }): Promise<number> {
      const text = 'select open_issues_count as count from projects where id = $1';
      return (await rows<{ count: number }>(text, [project.id]))[0]?.count ?? -1;
    },
    /** @returns id of a new milestone. */
    milestone(project: { id: number }, title: string, iid = 1): Promise<number> {
      return holder.app.make.row('milestones', { project_id: project.id, iid, title });
    },
  };
}
