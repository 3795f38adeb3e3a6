/** The stored rows compared with the list: those that go on, those that ended, and the new ones. */
import type { Authorization } from "../messenger/Messenger.ts"
import type { WatchedSession } from "./Facts.ts"
import type { RecognizedSessions } from "./ServiceSessionFacts.ts"

/** A row as it will be; `record_id` is null where it is new. */
export type SessionRow = Omit<WatchedSession, "record_id"> & { readonly record_id: string | null }

/** True if the row is a session that could be approved and has not been. */
export const isPending = (
  { approved_at, baseline, service }: Pick<WatchedSession, "approved_at" | "baseline" | "service">
): boolean => !service && approved_at === null && !baseline

const texts = (
  { app_name, app_version, country, created_at, device_model, ip, last_active_at, platform }: Authorization
) => ({ device_model, platform, app_name, app_version, ip, country, last_active_at, created_at })

const untouched = {
  approved_at: null,
  review_deadline: null,
  queued_at: null,
  withheld_at: null,
  withheld_reason: null,
  ending_reason: null,
  ending_at: null,
  ending_by: null,
  ending_intent: null
} as const

const fresh = (seen: Authorization, now: Date): SessionRow => ({
  ...untouched,
  ...texts(seen),
  record_id: null,
  id: seen.id,
  service: false,
  current: false,
  baseline: false,
  seen_at: now
})

const fingerprint = ({ app_name, app_version, created_at, device_model, platform }: Omit<Authorization, "id">) =>
  JSON.stringify([created_at?.toISOString() ?? null, device_model, platform, app_name, app_version])

/** The only one among them with that fingerprint. */
const alone = <A>(among: ReadonlyArray<A>, print: (one: A) => string): ReadonlyMap<string, A> => {
  const found = Map.groupBy(among, print)
  return new Map(
    [...found].flatMap(([key, [one, ...more]]) => one === undefined || more.length > 0 ? [] : [[key, one]])
  )
}

/** The row that each listed stranger has had, by the id of the list. */
const earlierRows = (
  rows: ReadonlyArray<WatchedSession>,
  strangers: ReadonlyArray<Authorization>,
  otherList: boolean
): ReadonlyMap<string, WatchedSession> => {
  const byId = new Map(rows.map((row) => [row.id, row]))
  const known = new Map(strangers.flatMap(({ id }) => {
    const row = byId.get(id)
    return row === undefined ? [] : [[id, row] as const]
  }))
  if (!otherList) return known
  const taken = new Set([...known.values()].map(({ record_id }) => record_id))
  const left = alone(
    rows.filter(({ record_id }) => !taken.has(record_id)),
    (row) => fingerprint({ ...row, password_pending: false, unconfirmed: false })
  )
  const unknown = alone(strangers.filter(({ id }) => !known.has(id)), fingerprint)
  return new Map([
    ...known,
    ...[...unknown].flatMap(([key, { id }]) => {
      const row = left.get(key)
      return row === undefined ? [] : [[id, row] as const]
    })
  ])
}

/** The rows as the list leaves them. */
export interface UpdatedRows {
  /** Strangers that had a row. */
  readonly known: ReadonlyArray<SessionRow>
  /** Strangers that are seen for the first time. */
  readonly added: ReadonlyArray<SessionRow>
  /** The service's own. */
  readonly own: ReadonlyArray<SessionRow>
  /** Strangers' rows that are not listed any more. */
  readonly gone: ReadonlyArray<WatchedSession>
  /** Rows that go without a session having ended: of own sessions, and of those that go on under another id. */
  readonly dropped: ReadonlyArray<WatchedSession>
}

/** Follows the rows through the list; `otherList` where another own session read it than the last time. */
export const followed = (
  rows: ReadonlyArray<WatchedSession>,
  list: RecognizedSessions,
  otherList: boolean,
  now: Date
): UpdatedRows => {
  const earlier = earlierRows(rows.filter(({ service }) => !service), list.strangers, otherList)
  const kept = new Set([...earlier.values()].map(({ record_id }) => record_id))
  const known = list.strangers.flatMap((seen): ReadonlyArray<SessionRow> => {
    const row = earlier.get(seen.id)
    if (row === undefined) return []
    return [{ ...row, ...texts(seen), id: seen.id, record_id: row.id === seen.id ? row.record_id : null }]
  })
  const ownRow = (seen: Authorization): SessionRow => {
    const row = rows.find((row) => row.id === seen.id) ?? fresh(seen, now)
    return {
      ...row,
      ...untouched,
      approved_at: row.approved_at,
      ...texts(seen),
      service: true,
      current: seen.current
    }
  }
  const own = [list.current, ...list.others.values()].map(ownRow)
  const ownIds = new Set(own.map(({ id }) => id))
  return {
    known,
    added: list.strangers.filter(({ id }) => !earlier.has(id)).map((seen) => fresh(seen, now)),
    own,
    gone: rows.filter(({ id, record_id, service }) => !service && !kept.has(record_id) && !ownIds.has(id)),
    dropped: [
      ...rows.filter(({ id, service }) => service && !ownIds.has(id)),
      ...[...earlier].flatMap(([id, row]) => row.id === id ? [] : [row])
    ]
  }
}
