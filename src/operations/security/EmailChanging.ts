/** The change of the two addresses of an account: a code is sent to the new one, and then entered. */
import { Effect, type Redacted } from "effect"
import type { ChangeFailure } from "../../changes/Intent.ts"
import type { AccountFacts } from "../../domain/accounts/Account.ts"
import { NoPendingChange, type ServiceUnavailable, type TooManyAttempts } from "../../domain/Failure.ts"
import { emailChangesPerHour, emailCodeAttempts, emailCodeLifetime } from "../../domain/Limits.ts"
import { type AccountSecurity, maskEmail } from "../../domain/messenger/Messenger.ts"
import { after } from "../../domain/Moments.ts"
import { type EmailChange, type EmailChangeFacts, type EmailKind, isOpen } from "../../domain/security/Security.ts"
import { acted } from "../../domain/sessions/SessionReview.ts"
import type { GuardedContext, MessengerContext } from "../../kernel/Context.ts"
import * as Operation from "../../kernel/Operation.ts"
import type { AccountReader } from "../../messenger/AccountSession.ts"
import type { EmailPending } from "../../ports/messenger/MessengerSecurity.ts"
import { AccountTasks } from "../../ports/protection/AccountTasks.ts"
import { Attempts } from "../../ports/security/AccountAttempts.ts"
import { EmailChanges } from "../../ports/security/EmailChanges.ts"
import {
  type AccountContext,
  keepFacets,
  leftBehind,
  ofAccount,
  prepare,
  type SeenSecurity,
  seeSecurity
} from "./Securing.ts"

/** The facet of each address. */
export const facetOf = { recovery: ["recovery"], login: ["login_email"] } as const

/** Counts a change before the messenger is called. */
const counted = (context: AccountContext): Effect.Effect<void, TooManyAttempts | ServiceUnavailable, Attempts> =>
  Effect.flatMap(Attempts, (attempts) => attempts.count(ofAccount(context), "email_change", emailChangesPerHour))

/** The stored change for a code that was sent, and the answer. */
const changeOf = (kind: EmailKind, { codeLength, pattern }: EmailPending, now: Date): EmailChangeFacts => ({
  kind,
  pattern,
  code_length: codeLength,
  attempts_left: emailCodeAttempts,
  expires_at: after(now, emailCodeLifetime)
})

const shown = (change: EmailChangeFacts, { id }: AccountFacts): typeof EmailChange.Type => ({
  object: "email_change",
  account_id: id,
  kind: change.kind,
  email_pattern: change.pattern,
  code_length: change.code_length,
  state: "code_sent",
  attempts_left: change.attempts_left,
  expires_at: change.expires_at
})

/** A requested address, and what the messenger has. */
interface RequestedAddress {
  readonly email: string
  readonly seen: SeenSecurity
}

/** A code that was sent, and what the messenger has then. */
interface SentEmailCode {
  readonly change: EmailChangeFacts
  readonly security: AccountSecurity | undefined
}

/** The steps of requesting another address; allowed unless `may` fails. */
export const requesting = <E1, E2>(
  kind: EmailKind,
  may: (seen: SeenSecurity) => Effect.Effect<unknown, E1>,
  send: (live: MessengerContext["live"], email: string, seen: SeenSecurity) => Effect.Effect<EmailPending, E2>
) => ({
  check: ({ email }: { readonly email: string }) => Effect.succeed(Operation.planned(email)),
  look: Effect.fnUntraced(function*(email: string, context: MessengerContext) {
    const seen = yield* seeSecurity(context.live, context)
    yield* may(seen)
    yield* counted(context)
    return Operation.planned({ email, seen })
  }),
  intent: ({ email }: RequestedAddress) => ({ details: { email: maskEmail(email) } }),
  prepare: ({ seen }: RequestedAddress, _: number, context: GuardedContext) => prepare(seen, facetOf[kind], context),
  act: Effect.fnUntraced(function*({ email, seen }: RequestedAddress, { live, now }: MessengerContext) {
    const pending = yield* send(live, email, seen)
    return { change: changeOf(kind, pending, now), security: yield* securityAfter(live, seen) }
  }),
  settle: Effect.fnUntraced(
    function*(_: RequestedAddress, { change, security }: SentEmailCode, context: GuardedContext) {
      yield* (yield* EmailChanges).begin(ofAccount(context), change)
      if (kind === "recovery") {
        yield* (yield* AccountTasks).add(ofAccount(context), "cancel_recovery_email", change.expires_at)
      }
      yield* keepFacets(security, facetOf[kind], context)
      return {}
    }
  ),
  answer: (_: RequestedAddress, { change }: SentEmailCode, { account }: MessengerContext) =>
    Effect.succeed(shown(change, account))
})

/** A code that was entered, and the open change that it is for. */
interface EnteredCode {
  readonly code: Redacted.Redacted
  readonly change: EmailChangeFacts
}

/** A code that was entered, and what the messenger has. */
interface SeenCode extends EnteredCode {
  readonly seen: SeenSecurity
}

/** Nothing waits any more. */
export const finished = Effect.fnUntraced(function*(kind: EmailKind, context: AccountContext) {
  yield* (yield* EmailChanges).end(ofAccount(context), kind)
  if (kind === "recovery") yield* (yield* AccountTasks).drop(ofAccount(context), "cancel_recovery_email")
})

/** The steps of entering a code. */
export const confirming = <E>(
  kind: EmailKind,
  send: (live: MessengerContext["live"], code: Redacted.Redacted) => Effect.Effect<unknown, E>
) => ({
  check: Effect.fnUntraced(function*({ code }: { readonly code: Redacted.Redacted }, context: GuardedContext) {
    const change = yield* (yield* EmailChanges).find(ofAccount(context), kind)
    if (change === null || !isOpen(change, context.now)) return yield* new NoPendingChange({})
    return Operation.planned({ code, change })
  }),
  look: (entered: EnteredCode, context: MessengerContext) =>
    Effect.map(seeSecurity(context.live, context), (seen) => Operation.planned({ ...entered, seen })),
  intent: ({ change }: EnteredCode) => ({ details: { email: change.pattern } }),
  // The code is counted before it is sent, so that a cancelled request counts as an attempt too.
  prepare: ({ seen }: SeenCode, _: number, context: GuardedContext) =>
    Effect.andThen(
      prepare(seen, facetOf[kind], context),
      Effect.flatMap(EmailChanges, (changes) => changes.attempt(ofAccount(context), kind))
    ),
  act: ({ code, seen }: SeenCode, { live }: MessengerContext) =>
    Effect.andThen(send(live, code), securityAfter(live, seen)),
  settle: Effect.fnUntraced(function*(_: SeenCode, security: AccountSecurity | undefined, context: GuardedContext) {
    yield* finished(kind, context)
    yield* keepFacets(security, facetOf[kind], context)
    return {}
  }),
  /** A wrong code stays counted; with the last one the change is over, and is taken back on the messenger. */
  failed: Effect.fnUntraced(function*({ change }: SeenCode, { error }: ChangeFailure, context: GuardedContext) {
    const changes = yield* EmailChanges
    if (error === "no_pending_change") return yield* finished(kind, context)
    if (error !== "code_invalid") return yield* changes.giveBack(ofAccount(context), kind)
    if (change.attempts_left > 1 || kind !== "recovery") return
    yield* (yield* AccountTasks).add(ofAccount(context), "cancel_recovery_email", context.now)
  }),
  answer: (_: SeenCode, __: AccountSecurity | undefined, { account, now }: MessengerContext) =>
    Effect.succeed(acted(`${kind}_email_confirmed`, account, null, now))
})

/** The messenger's state after a change. */
export const securityAfter = (live: AccountReader, { password }: SeenSecurity) =>
  leftBehind(live, { twoFaPasswords: password === undefined ? [] : [password.password], passkeyIds: [] })
