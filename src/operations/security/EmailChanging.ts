/** How the two addresses of an account are changed: a code is sent to the new one, and then entered. */
import { Effect, type Redacted } from "effect"
import type { Caller } from "../../domain/Access.ts"
import type { AccountFacts } from "../../domain/Account.ts"
import { NoPendingChange, type ServiceUnavailable, type TooManyAttempts } from "../../domain/Failure.ts"
import { emailChangesPerHour, emailCodeAttempts, emailCodeLifetime } from "../../domain/Limits.ts"
import type { AccountSecurity } from "../../domain/Messenger.ts"
import { plus } from "../../domain/protection/Deadline.ts"
import { type EmailChange, type EmailChangeFacts, type EmailKind, isOpen } from "../../domain/Security.ts"
import { acted } from "../../domain/SessionReview.ts"
import type { Guarding, Messaging } from "../../kernel/Context.ts"
import type { Live } from "../../kernel/Live.ts"
import * as Operation from "../../kernel/Operation.ts"
import type { Failed } from "../../kernel/runners/Guarded.ts"
import { AccountTasks } from "../../ports/AccountTasks.ts"
import { Attempts } from "../../ports/Attempts.ts"
import { EmailChanges } from "../../ports/EmailChanges.ts"
import type { EmailPending } from "../../ports/MessengerSecurity.ts"
import { keepFacets, leftBehind, needing, ofAccount, prepare, type Seen } from "./Securing.ts"

interface Context {
  readonly account: AccountFacts
  readonly caller: Caller["Service"]
}

/** The facet of each address. */
export const facetOf = { recovery: ["recovery"], login: ["login_email"] } as const

/** Counts a change before the messenger is asked for it. */
export const counted = (context: Context): Effect.Effect<void, TooManyAttempts | ServiceUnavailable, Attempts> =>
  Effect.flatMap(Attempts, (attempts) => attempts.count(ofAccount(context), "email_change", emailChangesPerHour))

/** What is stored and answered of a code that was sent. */
export const changeOf = (kind: EmailKind, { codeLength, pattern }: EmailPending, now: Date): EmailChangeFacts => ({
  kind,
  pattern,
  code_length: codeLength,
  attempts_left: emailCodeAttempts,
  expires_at: plus(now, emailCodeLifetime)
})

export const shown = (change: EmailChangeFacts, { id }: AccountFacts): typeof EmailChange.Type => ({
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
export const begin = (
  change: EmailChangeFacts,
  security: AccountSecurity | undefined,
  context: Context
) =>
  needing(Effect.gen(function*() {
    yield* (yield* EmailChanges).begin(ofAccount(context), change)
    if (change.kind === "recovery") {
      yield* (yield* AccountTasks).add(ofAccount(context), "cancel_recovery_email", change.expires_at)
    }
    yield* keepFacets(security, facetOf[change.kind], context)
    return {}
  }))

/** A code that was entered. */
export interface Entered {
  readonly code: Redacted.Redacted
  readonly change: EmailChangeFacts
  readonly seen: Seen | null
}

/** The open change that a code is for. */
const opened = (kind: EmailKind, context: Context, now: Date) =>
  needing(Effect.gen(function*() {
    const change = yield* (yield* EmailChanges).find(ofAccount(context), kind)
    return change !== null && isOpen(change, now) ? change : yield* new NoPendingChange({})
  }))

/** Counts the code before it is sent, so that whoever breaks off has tried one too. */
const attempt = (kind: EmailKind, context: Context) =>
  Effect.flatMap(EmailChanges, (changes) => changes.attempt(ofAccount(context), kind))

/** What a code that was right leaves behind. */
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
const refusedCode = (kind: EmailKind, { change }: Entered, error: string, context: Context, now: Date) =>
  needing(Effect.gen(function*() {
    const changes = yield* EmailChanges
    if (error === "no_pending_change") return yield* finished(kind, context)
    if (error !== "code_invalid") return yield* changes.giveBack(ofAccount(context), kind)
    if (change.attempts_left > 1 || kind !== "recovery") return
    yield* (yield* AccountTasks).add(ofAccount(context), "cancel_recovery_email", now)
  }))

/** The steps of entering a code that are the same for both addresses. */
export const confirming = (kind: EmailKind) => ({
  check: ({ code }: { readonly code: Redacted.Redacted }, { account, caller, now }: Guarding) =>
    Effect.map(
      opened(kind, { account, caller }, now),
      (change) => Operation.planned<Entered>({ code, change, seen: null })
    ),
  intent: ({ change }: Entered) => ({ details: { email: change.pattern } }),
  prepare: ({ seen }: Entered, _: number, { account, caller, now }: Guarding) =>
    needing(Effect.gen(function*() {
      if (seen !== null) yield* prepare(seen, facetOf[kind], { account, caller }, now)
      yield* attempt(kind, { account, caller })
    })),
  settle: (_: Entered, security: AccountSecurity | undefined, { account, caller }: Guarding) =>
    confirmed(kind, security, { account, caller }),
  failed: (plan: Entered, { error }: Failed, { account, caller, now }: Guarding) =>
    refusedCode(kind, plan, error, { account, caller }, now),
  answer: (_: Entered, __: AccountSecurity | undefined, { account, now }: Messaging) =>
    needing(Effect.succeed(acted(`${kind}_email_confirmed`, account, null, now)))
})

/** What the messenger has after a change. */
export const after = (live: Live, seen: Seen | null) =>
  leftBehind(live, {
    twoFaPasswords: seen?.password === undefined ? [] : [seen.password.password],
    passkeyIds: []
  })
