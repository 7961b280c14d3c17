/** Access levels of group and project members, interface: "Group member". */
export const accessLevels = { guest: 10, reporter: 20, developer: 30, master: 40, owner: 50 } as const;

export type AccessLevel = (typeof accessLevels)[keyof typeof accessLevels];

/** Visibility of projects, groups and snippets, interface: "Project". */
export const visibilityLevels = { private: 0, internal: 10, public: 20 } as const;

/** Anything unknown counts as private. */
export function visibilityWord(level: number): keyof typeof visibilityLevels {
  if (level === visibilityLevels.public) return 'public';
  return level === visibilityLevels.internal ? 'internal' : 'private';
}

export type VisibilityLevel = (typeof visibilityLevels)[keyof typeof visibilityLevels];
