import { defineEntity, type InferEntity, p } from '@mikro-orm/core';
import { createdAt } from './columns.ts';
import { Issue } from './issue.ts';
import { MergeRequest } from './merge-request.ts';
import { Project } from './project.ts';

/** A word of a project for its issues and merge requests. */
export const Label = defineEntity({
  name: 'Label',
  tableName: 'labels',
  properties: {
    id: p.integer().primary(),
    project: () => p.manyToOne(Project).deleteRule('cascade'),
    title: p.string().length(255),
    /** `#` and six hex digits. */
    color: p.string().length(7),
    description: p.text().nullable(),
    createdAt: createdAt(),
    updatedAt: createdAt(),
  },
  uniques: [{ name: 'labels_project_id_title_key', properties: ['project', 'title'] }],
});
export type Label = InferEntity<typeof Label>;

export const IssueLabel = defineEntity({
  name: 'IssueLabel',
  tableName: 'issue_labels',
  properties: {
    issue: () => p.manyToOne(Issue).primary().deleteRule('cascade'),
    label: () => p.manyToOne(Label).primary().deleteRule('cascade').index('issue_labels_label_id_index'),
  },
});
export type IssueLabel = InferEntity<typeof IssueLabel>;

export const MergeRequestLabel = defineEntity({
  name: 'MergeRequestLabel',
  tableName: 'merge_request_labels',
  properties: {
    mergeRequest: () => p.manyToOne(MergeRequest).primary().deleteRule('cascade'),
    label: () =>
      p.manyToOne(Label).primary().deleteRule('cascade').index('merge_request_labels_label_id_index'),
  },
});
export type MergeRequestLabel = InferEntity<typeof MergeRequestLabel>;
