/** The change of the two addresses of an account: a code is sent to the new one, and then entered. */
import { Effect, type Redacted } from "effect"
import type { AccountFacts } from "../../domain/accounts/Account.ts"
import { NoPendingChange, type ServiceUnavailable, type TooManyAttempts } from "../../domain/Failure.ts"
import { emailChangesPerHour, emailCodeAttempts, emailCodeLifetime } from "../../domain/Limits.ts"
import { type AccountSecurity, maskEmail } from "../../domain/messenger/Messenger.ts"
import type { Caller } from "../../domain/people/Access.ts"
import { plus } from "../../domain/protection/Deadline.ts"
import { type EmailChange, type EmailChangeFacts, type EmailKind, isOpen } from "../../domain/security/Security.ts"
import { acted } from "../../domain/sessions/SessionReview.ts"
import type { GuardedContext, MessengerContext } from "../../kernel/Context.ts"
import * as Operation from "../../kernel/Operation.ts"
import type { ChangeFailure } from "../../kernel/runners/MessengerChangeSteps.ts"
import type { Live } from "../../messenger/AccountSession.ts"
import type { EmailPending } from "../../ports/messenger/MessengerSecurity.ts"
import { AccountTasks } from "../../ports/protection/AccountTasks.ts"
import { Attempts } from "../../ports/security/AccountAttempts.ts"
import { EmailChanges } from "../../ports/security/EmailChanges.ts"
import {
  keepFacets,
  leftBehind,
  looked,
  needing,
  ofAccount,
  prepare,
  type SeenSecurity,
  seeSecurity
} from "./Securing.ts"

interface Context {
  readonly account: AccountFacts
  readonly caller: Caller["Service"]
}

/** The facet of each address. */
export const facetOf = { recovery: ["recovery"], login: ["login_email"] } as const

/** Counts a change before the messenger is called. */
const counted = (context: Context): Effect.Effect<void, TooManyAttempts | ServiceUnavailable, Attempts> =>
  Effect.flatMap(Attempts, (attempts) => attempts.count(ofAccount(context), "email_change", emailChangesPerHour))

/** The stored change for a code that was sent, and the answer. */
const changeOf = (kind: EmailKind, { codeLength, pattern }: EmailPending, now: Date): EmailChangeFacts => ({
  kind,
  pattern,
  code_length: codeLength,
  attempts_left: emailCodeAttempts,
  expires_at: plus(now, emailCodeLifetime)
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

/** Writes down that a code was sent. */
const begin = (change: EmailChangeFacts, security: AccountSecurity | undefined, context: Context) =>
  needing(Effect.gen(function*() {
    yield* (yield* EmailChanges).begin(ofAccount(context), change)
    if (change.kind === "recovery") {
      yield* (yield* AccountTasks).add(ofAccount(context), "cancel_recovery_email", change.expires_at)
    }
    yield* keepFacets(security, facetOf[change.kind], context)
    return {}
  }))

/** A requested address. */
interface Wanted {
  readonly email: string
  readonly seen: SeenSecurity | null
}

/** A code that was sent, and what the messenger has then. */
interface Sent {
  readonly change: EmailChangeFacts
  readonly security: AccountSecurity | undefined
}

/** The steps of requesting another address; allowed unless `may` fails. */
export const requesting = <E1, E2>(
  kind: EmailKind,
  may: (seen: SeenSecurity) => Effect.Effect<unknown, E1>,
  send: (live: MessengerContext["live"], email: string, seen: SeenSecurity) => Effect.Effect<EmailPending, E2>
) => ({
  check: ({ email }: { readonly email: string }) =>
    needing(Effect.succeed(Operation.planned<Wanted>({ email, seen: null }))),
  look: ({ email }: Wanted, { account, caller, live }: MessengerContext) =>
    needing(Effect.gen(function*() {
      const seen = yield* seeSecurity(live, { account, caller })
      yield* may(seen)
      yield* counted({ account, caller })
      return Operation.planned<Wanted>({ email, seen })
    })),
  intent: ({ email }: Wanted) => ({ details: { email: maskEmail(email) } }),
  prepare: ({ seen }: Wanted, _: number, { account, caller, now }: GuardedContext) =>
    needing(Effect.gen(function*() {
      yield* prepare(yield* looked(seen), facetOf[kind], { account, caller }, now)
    })),
  act: (plan: Wanted, { live, now }: MessengerContext) =>
    needing(Effect.gen(function*() {
      const seen = yield* looked(plan.seen)
      const pending = yield* send(live, plan.email, seen)
      return { change: changeOf(kind, pending, now), security: yield* after(live, seen) }
    })),
  settle: (_: Wanted, { change, security }: Sent, { account, caller }: GuardedContext) =>
    begin(change, security, { account, caller }),
  answer: (_: Wanted, { change }: Sent, { account }: MessengerContext) =>
    needing(Effect.succeed(shown(change, account)))
})

/** A code that was entered. */
export interface EnteredCode {
  readonly code: Redacted.Redacted
  readonly change: EmailChangeFacts
  readonly seen: SeenSecurity | null
}

/** The open change that a code is for. */
const opened = (kind: EmailKind, context: Context, now: Date) =>
  needing(Effect.gen(function*() {
    const change = yield* (yield* EmailChanges).find(ofAccount(context), kind)
    return change !== null && isOpen(change, now) ? change : yield* new NoPendingChange({})
  }))

/** Counts the code before it is sent, so that a cancelled request counts as an attempt too. */
const attempt = (kind: EmailKind, context: Context) =>
  Effect.flatMap(EmailChanges, (changes) => changes.attempt(ofAccount(context), kind))

/** The state after a code that was right. */
const confirmed = (kind: EmailKind, security: AccountSecurity | undefined, context: Context) =>
  needing(Effect.gen(function*() {
    yield* finished(kind, context)
    yield* keepFacets(security, facetOf[kind], context)
    return {}
  }))

/** Nothing waits any more. */
export const finished = (kind: EmailKind, context: Context) =>
  needing(Effect.gen(function*() {
    yield* (yield* EmailChanges).end(ofAccount(context), kind)
    if (kind === "recovery") yield* (yield* AccountTasks).drop(ofAccount(context), "cancel_recovery_email")
  }))

/** A wrong code stays counted; with the last one the change is over, and is taken back on the messenger. */
const refusedCode = (kind: EmailKind, { change }: EnteredCode, error: string, context: Context, now: Date) =>
  needing(Effect.gen(function*() {
    const changes = yield* EmailChanges
    if (error === "no_pending_change") return yield* finished(kind, context)
    if (error !== "code_invalid") return yield* changes.giveBack(ofAccount(context), kind)
    if (change.attempts_left > 1 || kind !== "recovery") return
    yield* (yield* AccountTasks).add(ofAccount(context), "cancel_recovery_email", now)
  }))

/** The steps of entering a code. */
export const confirming = <E>(
  kind: EmailKind,
  send: (live: MessengerContext["live"], code: Redacted.Redacted) => Effect.Effect<unknown, E>
) => ({
  check: ({ code }: { readonly code: Redacted.Redacted }, { account, caller, now }: GuardedContext) =>
    Effect.map(
      opened(kind, { account, caller }, now),
      (change) => Operation.planned<EnteredCode>({ code, change, seen: null })
    ),
  look: (plan: EnteredCode, { account, caller, live }: MessengerContext) =>
    Effect.map(
      seeSecurity(live, { account, caller }),
      (seen) => Operation.planned<EnteredCode>({ ...plan, seen })
    ),
  intent: ({ change }: EnteredCode) => ({ details: { email: change.pattern } }),
  prepare: ({ seen }: EnteredCode, _: number, { account, caller, now }: GuardedContext) =>
    needing(Effect.gen(function*() {
      if (seen !== null) yield* prepare(seen, facetOf[kind], { account, caller }, now)
      yield* attempt(kind, { account, caller })
    })),
  act: ({ code, seen }: EnteredCode, { live }: MessengerContext) =>
    needing(Effect.andThen(send(live, code), after(live, seen))),
  settle: (_: EnteredCode, security: AccountSecurity | undefined, { account, caller }: GuardedContext) =>
    confirmed(kind, security, { account, caller }),
  failed: (plan: EnteredCode, { error }: ChangeFailure, { account, caller, now }: GuardedContext) =>
    refusedCode(kind, plan, error, { account, caller }, now),
  answer: (_: EnteredCode, __: AccountSecurity | undefined, { account, now }: MessengerContext) =>
    needing(Effect.succeed(acted(`${kind}_email_confirmed`, account, null, now)))
})

/** The messenger's state after a change. */
export const after = (live: Live, seen: SeenSecurity | null) =>
  leftBehind(live, {
    twoFaPasswords: seen?.password === undefined ? [] : [seen.password.password],
    passkeyIds: []
  })
