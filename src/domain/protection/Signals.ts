/** Compares the last reading of the settings with this one: a difference that is not the service's own is a signal. */
import { Duration } from "effect"
import { attemptsKept, attemptsRemembered, codesTogether } from "../Limits.ts"
import type { AccountSecurity, Authorization, Profile } from "../messenger/Messenger.ts"
import type { Signal } from "./Decision.ts"
import type { Facets, ServiceSessionDevice } from "./Facts.ts"
import { isOwnDevice } from "./ServiceSessionFacts.ts"

/** The things that raise signals, as far as they could be read. */
export const seenFacets = (security: AccountSecurity | undefined, profile: Profile | undefined): Facets => ({
  ...(profile === undefined ? {} : { phone: profile.phone }),
  ...(security === undefined || security.two_fa_present === null ? {} : {
    two_fa: security.two_fa_present ? security.two_fa_mark ?? "" : null,
    login_email: security.login_email_pattern,
    reset_at: security.reset_at?.toISOString() ?? null
  }),
  ...(security === undefined || security.has_recovery === null ? {} : {
    recovery: {
      present: security.has_recovery,
      pending: security.recovery_pending_pattern,
      pattern: security.recovery_email_pattern
    }
  }),
  ...(security === undefined || security.passkey_ids === null ? {} : { passkeys: security.passkey_ids })
})

/** True if both are known and differ. */
const differs = <A>(before: A | undefined, after: A | undefined, same: (one: A, other: A) => boolean): boolean =>
  before !== undefined && after !== undefined && !same(before, after)

const equal = <A>(one: A, other: A): boolean => one === other

const sameRecovery = (one: NonNullable<Facets["recovery"]>, other: NonNullable<Facets["recovery"]>): boolean =>
  one.present === other.present && one.pending === other.pending &&
  (one.pattern === null || other.pattern === null || one.pattern === other.pattern)

/** Only a newly requested reset counts. */
const noNewReset = (before: string | null, after: string | null): boolean => after === null || before === after

const noneAdded = (before: ReadonlyArray<string>, after: ReadonlyArray<string>): boolean =>
  after.every((id) => before.includes(id))

/** The signals T1 to T4 between two readings. */
const changes = (before: Facets, after: Facets): ReadonlyArray<Signal> => [
  ...(differs(before.two_fa, after.two_fa, equal) ? [{ code: "T1", what: "two_fa" } as const] : []),
  ...(differs(before.reset_at, after.reset_at, noNewReset) ? [{ code: "T1", what: "two_fa_reset" } as const] : []),
  ...(differs(before.recovery, after.recovery, sameRecovery) ? [{ code: "T2", what: "recovery_email" } as const] : []),
  ...(differs(before.login_email, after.login_email, equal) ? [{ code: "T2", what: "login_email" } as const] : []),
  ...(differs(before.phone, after.phone, equal) ? [{ code: "T3", what: "phone_number" } as const] : []),
  ...(differs(before.passkeys, after.passkeys, noneAdded) ? [{ code: "T4", what: "passkey" } as const] : [])
]

/** The signals that a reading has shown. */
export interface SignalsSeen {
  readonly signals: ReadonlyArray<Signal>
  readonly facets: Facets
}

/** Compares what this reading saw with the last one, and keeps what it saw. */
export const looked = (
  facets: Facets,
  security: AccountSecurity | undefined,
  profile: Profile | undefined
): SignalsSeen => {
  const seen = seenFacets(security, profile)
  return { signals: changes(facets, seen), facets: { ...facets, ...seen } }
}

/** Attempts to sign in that are reported now. */
export interface ReportedAttempts {
  /** Each a signal T7; null for a code that was sent. */
  readonly reported: ReadonlyArray<Authorization | null>
  readonly attempts: NonNullable<Facets["attempts"]>
}

const codeSent = "code"

const within = (at: string, period: Duration.Duration, now: Date): boolean =>
  now.getTime() - new Date(at).getTime() < Duration.toMillis(period)

/**
 * Reports each attempt once: a device by its id for a day, codes once an hour; none while the service signs in itself.
 */
export const attempted = (
  facets: Facets,
  seen: { readonly waiting: ReadonlyArray<Authorization>; readonly codes: number },
  login: { readonly open: boolean; readonly device: ServiceSessionDevice },
  now: Date
): ReportedAttempts => {
  const remembered = Object.entries(facets.attempts ?? {}).filter(([, at]) => within(at, attemptsRemembered, now))
  const known = new Map(remembered)
  const devices = seen.waiting.filter((one) => !known.has(one.id) && !(login.open && isOwnDevice(one, login.device)))
  const lastCode = known.get(codeSent)
  const code = seen.codes > 0 && !login.open && (lastCode === undefined || !within(lastCode, codesTogether, now))
  const reported = [...devices.map(({ id }) => id), ...(code ? [codeSent] : [])]
  for (const id of reported) known.delete(id)
  return {
    reported: [...devices, ...(code ? [null] : [])],
    attempts: Object.fromEntries(
      [...known, ...reported.map((id) => [id, now.toISOString()] as const)].slice(-attemptsKept)
    )
  }
}
