/** The times when the platform lets the service act, and when a session must be signed out (specification 12.5). */
import type { Duration } from "effect"
import { signOutLock, strangersAge, takeoverWindow } from "../Limits.ts"
import { after } from "../Moments.ts"
import type { ServiceSession } from "./ServiceSession.ts"

const later = (one: Date, other: Date | null): Date => other !== null && other > one ? other : one

/** The earliest of the moments; null where there is none. */
export const earliest = (moments: ReadonlyArray<Date | null>): Date | null =>
  moments.reduce((first, moment) => first === null || moment !== null && moment < first ? moment : first, null)

/** True if one of the service's sessions acts for it now. */
export const isActing = ({ slot }: Pick<ServiceSession, "slot">): boolean => slot === "main" || slot === "paired"

/** The time when the oldest acting session is old enough to sign others out; null without one. */
export const enforcementActiveAt = (own: ReadonlyArray<Pick<ServiceSession, "slot" | "created_at">>): Date | null =>
  earliest(own.filter(isActing).map(({ created_at }) => after(created_at, signOutLock)))

/** True if the platform lets the service sign sessions out. */
export const canSignOut = (enforcement: Date | null, now: Date): boolean => enforcement !== null && now >= enforcement

/** True if an unapproved session is signed out when it is first seen. */
export const isOnSight = (
  account: { readonly security_lock: boolean; readonly locked_at: Date | null },
  now: Date
): boolean => account.security_lock || account.locked_at !== null && now < after(account.locked_at, takeoverWindow)

/** The facts that a deadline is worked out from, when it is set. */
export interface DeadlineFacts {
  readonly enforcement: Date | null
  readonly resumedAt: Date | null
  readonly seenAt: Date
  readonly createdAt: Date | null
  readonly onSight: boolean
  readonly reviewWindow: Duration.Duration
}

/** The time when a session is signed out unless it is approved, set at `now`. */
export const reviewDeadline = (facts: DeadlineFacts, now: Date): Date => {
  const soonest = later(now, facts.enforcement)
  if (facts.onSight) return soonest
  const reviewed = after(later(facts.seenAt, facts.resumedAt), facts.reviewWindow)
  const aged = after(facts.createdAt ?? facts.seenAt, strangersAge)
  return later(soonest, earliest([reviewed, aged]))
}
