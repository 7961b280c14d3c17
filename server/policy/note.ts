import { can, type ProjectFacts, type ViewerFacts } from './project.ts';

interface Asked {
  viewer: ViewerFacts & { id: number };
  project: ProjectFacts;
  note: { author_id: number };
}

/** Whether the viewer may change or remove a comment: its author, and those who may do so with anybody's. */
export function canAdminNote({ viewer, project, note }: Asked): boolean {
  return note.author_id === viewer.id || can(viewer, project, 'admin_note');
}
