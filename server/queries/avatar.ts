/**
 * Address of the picture of the user in the given table: his own, else that of Gravatar, while the instance asks it;
 * else null. The setting is read once per statement, however many users that tells of.
 */
export function avatarOf(user: string): string {
  return `coalesce(${user}.avatar, case when (select st.avatar_service_enabled from settings st where st.id = 1)
    then 'http://www.gravatar.com/avatar/' || md5(lower(${user}.email)) || '?s=80&d=identicon' end)`;
}
