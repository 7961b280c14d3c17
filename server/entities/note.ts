import { defineEntity, type InferEntity, p } from '@mikro-orm/core';
import { createdAt, flag, formerUser } from './columns.ts';
import { Project } from './project.ts';
import { User } from './user.ts';

/** What somebody says of something in a project, or what the system notes of it. */
export const Note = defineEntity({
  name: 'Note',
  tableName: 'notes',
  properties: {
    id: p.integer().primary(),
    project: () => p.manyToOne(Project).deleteRule('cascade'),
    author: () => p.manyToOne(User).deleteRule('cascade').index('notes_author_id_index'),
    noteableType: p.enum(['Commit', 'Issue', 'MergeRequest', 'Snippet']),
    /** Of everything but commits, which have a hash instead. */
    noteableId: p.integer().nullable(),
    commitSha: p.string().length(40).nullable(),
    body: p.text(),
    /** Written by the server for what its author did. */
    system: flag(false),
    /** A vote: the body is the name of its picture. */
    isAward: flag(false),
    /** The place in a diff; the line counts from 1, on the side that `lineType` says. */
    path: p.text().nullable(),
    line: p.integer().nullable(),
    lineType: p.enum(['new', 'old']).nullable(),
    /** The same place as receivers of hooks know it. */
    lineCode: p.string().nullable(),
    /** Where something named the thing that this note says so of; its project, and its id or for a commit its hash. */
    referenceType: p.enum(['Commit', 'Issue', 'MergeRequest', 'Snippet']).nullable(),
    referenceProjectId: p.integer().nullable(),
    referenceId: p.integer().nullable(),
    referenceSha: p.string().length(40).nullable(),
    updatedById: formerUser(),
    createdAt: createdAt(),
    updatedAt: createdAt(),
  },
  checks: [
    { name: 'notes_parent_check', expression: 'num_nonnulls(noteable_id, commit_sha) = 1' },
    {
      name: 'notes_reference_check',
      expression:
        'num_nonnulls(reference_id, reference_sha) = num_nonnulls(reference_type) and num_nonnulls(reference_project_id) = num_nonnulls(reference_type)',
    },
  ],
  indexes: [
    // Also finds all notes of a project, when that goes.
    { name: 'notes_project_id_commit_sha_id_index', properties: ['project', 'commitSha', 'id'] },
    {
      name: 'notes_noteable_index',
      expression:
        'create index "notes_noteable_index" on "notes" ("noteable_type", "noteable_id", "id") where "noteable_id" is not null',
    },
    // A thing says once of each place that it was named there, and besides that it was closed from there.
    {
      name: 'notes_reference_key',
      expression:
        'create unique index "notes_reference_key" on "notes" ("noteable_id", "noteable_type", "reference_type", "reference_id") where "reference_id" is not null and "body" not like \'Status changed %\'',
    },
    {
      name: 'notes_reference_sha_key',
      expression:
        'create unique index "notes_reference_sha_key" on "notes" ("noteable_id", "noteable_type", "reference_project_id", "reference_sha") where "reference_sha" is not null and "body" not like \'Status changed %\'',
    },
    // Finds them when the place goes.
    {
      name: 'notes_reference_index',
      expression:
        'create index "notes_reference_index" on "notes" ("reference_project_id", "reference_type", "reference_id") where "reference_type" is not null',
    },
    {
      name: 'notes_award_key',
      expression:
        'create unique index "notes_award_key" on "notes" ("noteable_id", "noteable_type", "author_id", "body") where "is_award"',
    },
    // Whether somebody has said something of a thing.
    {
      name: 'notes_noteable_author_index',
      expression:
        'create index "notes_noteable_author_index" on "notes" ("noteable_id", "noteable_type", "author_id") where "noteable_id" is not null and not "system"',
    },
  ],
});
export type Note = InferEntity<typeof Note>;
