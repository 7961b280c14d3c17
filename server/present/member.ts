import { z } from 'zod';
import type { MemberRow } from '../queries/members.ts';
import { presentTime, Timestamp } from './timestamp.ts';
import { presentUserSummary, UserSummaryJson } from './user.ts';

/** Interface: "Group member"; the same for projects. `created_at` is the user's. */
export const MemberJson = z.strictObject({
  ...UserSummaryJson.shape,
  /** Null for callers who are no members themselves. */
  email: z.string().nullable(),
  created_at: Timestamp,
  access_level: z.number(),
});

/** The answer to the removal of a user who was no member. */
export const AccessRevokedJson = z.strictObject({ message: z.literal('Access revoked'), id: z.number() });

/** @param shown.email whether the caller may know the member's address. */
export function presentMember(
  member: MemberRow,
  { origin, email }: { origin: string; email: boolean },
): z.infer<typeof MemberJson> {
  return {
    ...presentUserSummary(member, origin),
    email: email ? member.email : null,
    created_at: presentTime(member.created_at),
    access_level: member.access_level,
  };
}

/** The share of a group in a project. */
export const ShareJson = z.strictObject({
  id: z.number(),
  project_id: z.number(),
  group_id: z.number(),
  group_access: z.number(),
});
