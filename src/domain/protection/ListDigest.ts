/** The mark of a list of sessions: while it stays the same, nothing is to be decided. */
import type { Authorization } from "../messenger/Messenger.ts"

const members = (
  { app_name, app_version, country, created_at, current, device_model, id, ip, password_pending, platform }:
    Authorization
) => [
  id,
  current,
  created_at?.toISOString() ?? null,
  device_model,
  platform,
  app_name,
  app_version,
  ip,
  country,
  password_pending
]

/** The list as one text that does not depend on its order; when a session was last active is not in it. */
export const seenMark = (authorizations: ReadonlyArray<Authorization>): string =>
  JSON.stringify(
    authorizations.map(members).map((one) => JSON.stringify(one)).toSorted()
  )
