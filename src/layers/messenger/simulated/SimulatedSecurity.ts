/** E-mail addresses and passkeys of the simulated platform's accounts, as the service changes them. */
import { DateTime, Duration, Effect, Random, Redacted } from "effect"
import { maskEmail, type SessionRef } from "../../../domain/messenger/Messenger.ts"
import { EmailRefused, PasskeyRefused, type SecurityVerbs } from "../../../ports/messenger/MessengerSecurity.ts"
import { type NoSession, PasswordInvalid } from "../../../ports/messenger/MessengerSession.ts"
import { addressCodeLifetime, codeLength, entriesAtMost, isEmail, passkeysAtMost, unlockedAt } from "./PlatformRules.ts"
import { isPassword } from "./SimulatedAccounts.ts"
import type { Calls } from "./SimulatedCalls.ts"
import type { AddressKind, SimulatedAccount, SimulatedAuthorization } from "./SimulatedStore.ts"

/** Changes the account of a session, or fails and leaves it as it is. */
export type Change = <E>(
  sessionRef: SessionRef,
  next: (account: SimulatedAccount, asking: SimulatedAuthorization) => Effect.Effect<SimulatedAccount, E>
) => Effect.Effect<unknown, E | NoSession>

const withoutCode = (account: SimulatedAccount, kind: AddressKind): SimulatedAccount => ({
  ...account,
  ...(kind === "recovery" ? { recovery_pending_pattern: null } : {}),
  email_codes: { ...account.email_codes, [kind]: undefined }
})

const newCode = Effect.map(
  Random.nextIntBetween(0, 10 ** codeLength("email")),
  (number) => String(number).padStart(codeLength("email"), "0")
)

/** Sends a code to the address. */
const started = Effect.fnUntraced(function*(account: SimulatedAccount, kind: AddressKind, email: string) {
  if (!isEmail(email)) return yield* new EmailRefused({ reason: "invalid" })
  const pattern = maskEmail(email)
  const now = (yield* DateTime.nowAsDate).getTime()
  const code = {
    pattern,
    code: yield* newCode,
    until: now + Duration.toMillis(addressCodeLifetime),
    attemptsLeft: entriesAtMost
  }
  return {
    ...account,
    ...(kind === "recovery" ? { recovery_pending_pattern: pattern } : {}),
    email_codes: { ...account.email_codes, [kind]: code }
  }
})

/** The effect of a code on the account; a wrong one costs an attempt. */
const entered = Effect.fnUntraced(function*(account: SimulatedAccount, kind: AddressKind, code: Redacted.Redacted) {
  const sent = account.email_codes[kind]
  const now = (yield* DateTime.nowAsDate).getTime()
  if (sent === undefined || sent.until <= now || sent.attemptsLeft <= 0) {
    return { account, refused: "code_expired" } as const
  }
  if (sent.code !== Redacted.value(code)) {
    const left = { ...sent, attemptsLeft: sent.attemptsLeft - 1 }
    return {
      account: { ...account, email_codes: { ...account.email_codes, [kind]: left } },
      refused: "code_invalid"
    } as const
  }
  const confirmed = withoutCode(account, kind)
  return {
    account: kind === "recovery"
      ? { ...confirmed, recovery_email_pattern: sent.pattern }
      : { ...confirmed, login_email_pattern: sent.pattern },
    refused: null
  } as const
})

export const make = (calls: Calls, change: Change) => (sessionRef: SessionRef): SecurityVerbs => {
  const call = calls.session

  const start = <E>(
    kind: AddressKind,
    email: string,
    check: (account: SimulatedAccount) => Effect.Effect<void, E>
  ) =>
    Effect.as(
      change(sessionRef, (account) => Effect.andThen(check(account), started(account, kind, email))),
      { pattern: maskEmail(email), codeLength: codeLength("email") }
    )

  const confirm = (kind: AddressKind, code: Redacted.Redacted) =>
    Effect.suspend(() => {
      let refused: "code_expired" | "code_invalid" | null = null
      return Effect.andThen(
        change(sessionRef, (account) =>
          Effect.map(entered(account, kind, code), (next) => {
            refused = next.refused
            return next.account
          })),
        Effect.suspend(() => refused === null ? Effect.void : Effect.fail(new EmailRefused({ reason: refused })))
      )
    })

  const proved = (account: SimulatedAccount, current: Redacted.Redacted): Effect.Effect<void, PasswordInvalid> =>
    isPassword(account, current) ? Effect.void : Effect.fail(new PasswordInvalid())

  return {
    setRecoveryEmail: Effect.fn("LiveSession.setRecoveryEmail")(({ current, email }) =>
      call(sessionRef, "set_recovery_email", start("recovery", email, (account) => proved(account, current)))
    ),
    confirmRecoveryEmail: Effect.fn("LiveSession.confirmRecoveryEmail")((code) =>
      call(sessionRef, "confirm_recovery_email", confirm("recovery", code))
    ),
    cancelRecoveryEmail: call(
      sessionRef,
      "cancel_recovery_email",
      Effect.asVoid(change(sessionRef, (account) => Effect.succeed(withoutCode(account, "recovery"))))
    ),
    removeRecoveryEmail: Effect.fn("LiveSession.removeRecoveryEmail")((current) =>
      call(
        sessionRef,
        "remove_recovery_email",
        Effect.asVoid(change(sessionRef, (account) =>
          Effect.as(proved(account, current), { ...withoutCode(account, "recovery"), recovery_email_pattern: null })))
      )
    ),
    startLoginEmail: Effect.fn("LiveSession.startLoginEmail")((email) =>
      call(
        sessionRef,
        "start_login_email",
        start("login", email, (account) =>
          account.login_email_pattern === null ? Effect.fail(new EmailRefused({ reason: "not_set_up" })) : Effect.void)
      )
    ),
    confirmLoginEmail: Effect.fn("LiveSession.confirmLoginEmail")((code) =>
      call(sessionRef, "confirm_login_email", confirm("login", code))
    ),
    addPasskey: Effect.fn("LiveSession.addPasskey")(({ id }) =>
      call(
        sessionRef,
        "add_passkey",
        Effect.as(
          change(sessionRef, (account, asking) =>
            Effect.gen(function*() {
              const now = yield* DateTime.nowAsDate
              if (unlockedAt(asking.signed_in_at, now) !== null) {
                return yield* new PasskeyRefused({ reason: "too_soon" })
              }
              if (account.passkey_ids.length >= passkeysAtMost) return yield* new PasskeyRefused({ reason: "limit" })
              return { ...account, passkey_ids: [...account.passkey_ids, id] }
            })),
          { id }
        )
      )
    ),
    removePasskey: Effect.fn("LiveSession.removePasskey")((id) =>
      call(
        sessionRef,
        "remove_passkey",
        Effect.asVoid(change(sessionRef, (account) =>
          Effect.succeed({
            ...account,
            passkey_ids: account.passkey_ids.filter((one) => one !== id)
          })))
      )
    )
  }
}
