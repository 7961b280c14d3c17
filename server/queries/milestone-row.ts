export interface MilestoneRow {
  id: number;
  iid: number;
  project_id: number;
  title: string;
  description: string | null;
  /** `YYYY-MM-DD`. */
  due_date: string | null;
  state: 'active' | 'closed';
  created_at: Date | string;
  updated_at: Date | string;
}

/** Columns of `MilestoneRow`, from the table `ms`. */
export const milestoneColumns = `ms.id, ms.iid, ms.project_id, ms.title, ms.description, ms.due_date::text as due_date,
  ms.state, ms.created_at, ms.updated_at`;

/** One column that holds a `MilestoneRow` from the table `ms`; null without a row. */
export const milestoneJson = `case when ms.id is not null then json_build_object('id', ms.id, 'iid', ms.iid,
  'project_id', ms.project_id, 'title', ms.title, 'description', ms.description, 'due_date', ms.due_date,
  'state', ms.state, 'created_at', ms.created_at, 'updated_at', ms.updated_at) end`;
