/** The things that offboarding an account gives back: the 2FA password and the passkey that the service has set. */
import { Clock, Duration, Effect } from "effect"
import { MessengerUnavailable } from "../../domain/Failure.ts"
import { unrevealedKept } from "../../domain/Limits.ts"
import { after } from "../../domain/Moments.ts"
import type { Candidates, PasswordCandidate } from "../../domain/security/Secrets.ts"
import type { GuardedContext } from "../../kernel/Context.ts"
import type { AccountReader, LiveWriter } from "../../messenger/AccountSession.ts"
import { Secrets } from "../../ports/security/Secrets.ts"
import { type AccountContext, heldPasskey, ofAccount, prepare, type SeenSecurity, seeSecurity } from "./Securing.ts"

/** The time after it began until which a request still calls the messenger, so that it ends within 30 seconds. */
const lookUntil = Duration.seconds(16)
const releaseUntil = Duration.seconds(22)
export const logOutUntil = Duration.seconds(28)

/** Asks the messenger until then; what takes longer is done later, if at all. */
export const before = <A, E, R>(since: Date, until: Duration.Duration, work: Effect.Effect<A, E, R>) =>
  Effect.flatMap(Clock.currentTimeMillis, (now) =>
    Effect.timeoutOrElse(work, {
      duration: Math.max(0, since.getTime() + Duration.toMillis(until) - now),
      orElse: () => Effect.fail(new MessengerUnavailable({}))
    }))

/** The state of what the service had set; `held` where it is still set, or that is unknown. */
export interface Released {
  readonly twoFa: "none" | "removed" | "held"
  readonly passkey: "none" | "removed" | "held"
}

/** An account before its release: what it has, or what is left where it cannot be read. */
export type ReleasedAccount =
  | { readonly seen: SeenSecurity }
  | {
    readonly seen: null
    readonly isAway: boolean
    /** The password that is probably still set; a retired one that was never checked may be. */
    readonly password: PasswordCandidate | undefined
    readonly passkey: boolean
  }

const unreached = ({ passkeys, passwords }: Candidates, isAway: boolean): ReleasedAccount => ({
  seen: null,
  isAway,
  password: passwords.find(({ erase_at, slot }) => slot !== "retired" || erase_at === null),
  passkey: passkeys.length > 0
})

const isHeld = (left: boolean) => left ? "held" as const : "none" as const

/** Reads the account; it fails only where what is held cannot be read. */
export const find = (live: AccountReader, context: AccountContext, since: Date) =>
  before(since, lookUntil, Effect.map(seeSecurity(live, context), (seen): ReleasedAccount => ({ seen }))).pipe(
    Effect.catchTag(
      ["no_session", "messenger_refused", "messenger_unavailable"],
      ({ _tag }) =>
        Effect.flatMap(Secrets, (secrets) =>
          Effect.map(
            secrets.candidates(ofAccount(context)),
            (candidates) => unreached(candidates, _tag === "messenger_unavailable")
          ))
    )
  )

/**
 * Stored with the intent, so that our own change is no signal, and a password that may be gone is not shown as held.
 */
export const begin = Effect.fnUntraced(function*({ seen }: ReleasedAccount, context: GuardedContext) {
  if (seen === null) return
  yield* prepare(seen, ["two_fa", "recovery", "passkeys"], context)
  if (seen.password !== undefined) yield* (yield* Secrets).suspend(ofAccount(context), "two_fa")
})

const removed = <E>(work: Effect.Effect<unknown, E>, since: Date) =>
  Effect.match(before(since, releaseUntil, work), {
    onFailure: () => "held" as const,
    onSuccess: () => "removed" as const
  })

/** Removes both from the messenger, outside any transaction. */
export const release = Effect.fnUntraced(function*(live: LiveWriter, found: ReleasedAccount, since: Date) {
  if (found.seen === null) {
    return { twoFa: isHeld(found.password !== undefined), passkey: isHeld(found.passkey) } satisfies Released
  }
  const { candidates, password, security } = found.seen
  const passkey = heldPasskey(found.seen)
  const unread = security.passkey_ids === null && candidates.passkeys.length > 0
  return {
    twoFa: password === undefined ? "none" : yield* removed(live.removePassword(password.password), since),
    passkey: passkey === undefined
      ? isHeld(unread)
      : yield* removed(live.removePasskey(passkey.passkeyId), since)
  } satisfies Released
})

/**
 * Writes down what was released, in the transaction that offboards: the key of a passkey is forgotten in any case, a
 * password that is still set stays readable for 90 days.
 */
export const released = Effect.fnUntraced(
  function*({ twoFa }: Released, found: ReleasedAccount, context: AccountContext, now: Date) {
    const secrets = yield* Secrets
    const of = ofAccount(context)
    yield* secrets.eraseAll(of, "passkey")
    if (twoFa !== "held") return yield* secrets.eraseAll(of, "two_fa")
    const { password } = found.seen ?? found
    if (password !== undefined) yield* secrets.move(of, [{ id: password.id, slot: "held" }], now)
    yield* secrets.keepUntil(of, "two_fa", after(now, unrevealedKept))
  }
)
