/**
 * The listed sessions that are the service's own, by what the platform says of them and never by their names alone; and
 * the one of them that signs others out.
 */
import type { Authorization } from "../messenger/Messenger.ts"
import { canSignOut, enforcementActiveAt } from "./Deadline.ts"
import type { ServiceSessionDevice } from "./Facts.ts"
import type { ServiceSession } from "./ServiceSession.ts"

/** The list, with the service's own sessions separated from all others. */
export interface RecognizedSessions {
  readonly current: Authorization
  /** The service's other sessions by the ids of their rows. */
  readonly others: ReadonlyMap<string, Authorization>
  readonly strangers: ReadonlyArray<Authorization>
  /** Entries that are no sessions, because their 2FA password has not been given yet. */
  readonly waiting: ReadonlyArray<Authorization>
  readonly missingPaired: ServiceSession | null
}

/** True if the device names itself as the service does, which others can copy. */
export const isOwnDevice = (seen: ServiceSessionDevice, own: ServiceSessionDevice): boolean =>
  seen.device_model === own.device_model && seen.platform === own.platform && seen.app_name === own.app_name

/** The one entry that was signed in at the very moment of the own session, under the service's name. */
const byAge = (
  own: ServiceSession,
  among: ReadonlyArray<Authorization>,
  device: ServiceSessionDevice
): Authorization | undefined => {
  const found = among.filter((seen) =>
    seen.created_at?.getTime() === own.created_at.getTime() && isOwnDevice(seen, device)
  )
  return found.length === 1 ? found[0] : undefined
}

const find = (
  own: ServiceSession,
  among: ReadonlyArray<Authorization>,
  device: ServiceSessionDevice
): Authorization | undefined =>
  (own.seen_as === null ? undefined : among.find(({ id }) => id === own.seen_as)) ?? byAge(own, among, device)

const isSame = (one: Authorization, other: Authorization): boolean =>
  one.created_at?.getTime() === other.created_at?.getTime() && one.device_model === other.device_model &&
  one.platform === other.platform && one.app_name === other.app_name && one.app_version === other.app_version

/**
 * A session as the list of another own session has it, by what cannot be chosen alone, because ids belong to the list
 * of the session that read them; undefined where that is not unique.
 */
export const sameIn = (list: ReadonlyArray<Authorization>, seen: Authorization): Authorization | undefined => {
  const found = list.filter((each) => isSame(each, seen))
  return found.length === 1 && found[0]?.current === false ? found[0] : undefined
}

/**
 * The oldest of the service's acting sessions that the platform lets sign others out; undefined where there is none
 * yet.
 */
export const oldestAble = <Own extends Pick<ServiceSession, "slot" | "created_at">>(
  own: ReadonlyArray<Own>,
  now: Date
): Own | undefined => {
  const [oldest] = own.filter((one) => canSignOut(enforcementActiveAt([one]), now))
    .toSorted((one, other) => one.created_at.getTime() - other.created_at.getTime())
  return oldest
}

/** The list by owner of each entry; null where the platform does not mark the current session. */
export const recognized = (
  own: ReadonlyArray<ServiceSession>,
  through: string,
  authorizations: ReadonlyArray<Authorization>,
  device: ServiceSessionDevice
): RecognizedSessions | null => {
  const asking = authorizations.filter(({ current }) => current)
  const [current] = asking
  if (current === undefined || asking.length > 1) return null
  const listed = [...new Map(authorizations.map((seen) => [seen.id, seen])).values()]
    .filter(({ current, password_pending }) => !current && !password_pending)
  const others = new Map<string, Authorization>()
  const ours = new Set<Authorization>()
  for (const one of own) {
    if (one.id === through || one.slot === "pairing") continue
    const seen = find(one, listed.filter((seen) => !ours.has(seen)), device)
    if (seen === undefined) continue
    others.set(one.id, seen)
    ours.add(seen)
  }
  return {
    current,
    others,
    strangers: listed.filter((seen) => !ours.has(seen)),
    waiting: authorizations.filter(({ current, password_pending }) => !current && password_pending),
    missingPaired: own.find(({ id, slot }) => slot === "paired" && id !== through && !others.has(id)) ?? null
  }
}
