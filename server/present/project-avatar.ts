/** What there may be of pictures of a project. */
interface Pictures {
  /** Address of one that was uploaded. */
  avatar: string | null;
  /** Name of one among its files. */
  logo: string | null;
}

/** Address of the picture that a project is shown with: the uploaded one, else that among its files, else null. */
export function projectAvatar({ avatar, logo }: Pictures, webUrl: string): string | null {
  return avatar ?? (logo === null ? null : `${webUrl}/avatar`);
}
