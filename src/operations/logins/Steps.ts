/** The common parts of the steps of logins: finding and claiming a login, and applying the messenger's answer. */
import { Effect, Result } from "effect"
import {
  AlreadyConnected,
  alreadyConnected,
  LoginExpired,
  LoginStep,
  MessengerRefused,
  MessengerUnavailable,
  NoFreeSeat,
  NotLicensed,
  ResourceMissing,
  WrongAccount
} from "../../domain/Failure.ts"
import { journalAction } from "../../domain/journal/JournalEntry.ts"
import { isOpen, isOver, login as show, type LoginFacts } from "../../domain/logins/Login.ts"
import type { Caller } from "../../domain/people/Access.ts"
import type { FurtherEntry, LoginStepContext, LoginStepEnd } from "../../kernel/Operation.ts"
import * as Calls from "../../messenger/LoginCalls.ts"
import { Db } from "../../ports/Db.ts"
import { type HeldLogin, type LoginChange, LoginEnded, type LoginRefusal, Logins } from "../../ports/logins/Logins.ts"

export interface Plan {
  readonly held: HeldLogin
}

export type LoginAnswer = ReturnType<typeof show>

type LoginEnd<E> = LoginStepEnd<LoginAnswer, E>

/** The login, where the caller may see it. */
export const find = Effect.fnUntraced(function*(id: string, caller: Caller["Service"]) {
  const found = yield* (yield* Logins).find(caller, id)
  return found ?? (yield* new ResourceMissing({ param: "login_id" }))
})

/** The login at a step that may be taken now. */
export const findOpen = Effect.fnUntraced(
  function*(id: string, { caller, now }: LoginStepContext, state: LoginFacts["state"]) {
    const login = yield* find(id, caller)
    if (login.state === "expired" || isOpen(login) && isOver(login, now)) return yield* new LoginExpired({})
    if (login.state !== state) return yield* new LoginStep({})
    return login
  }
)

/** Takes the login for a step of this plan, unless another step has it. */
export const hold = Effect.fnUntraced(
  function*(login: LoginFacts, { caller, now }: LoginStepContext, change: LoginChange) {
    const held = yield* (yield* Logins).hold(caller.organizationId, login.id, change, now)
    if (held === null) return { changed: "busy" as const }
    // Nothing has been sent yet: the caller has to start the login again.
    if (held.state === null) return yield* new LoginStep({})
    return { changed: true as const, plan: { held } }
  }
)

const event = (
  name: "login.completed" | "login.expired" | "login.failed",
  login: LoginFacts,
  details = {}
): FurtherEntry => ({
  journal: journalAction(name),
  targetId: login.id,
  accountId: login.account_id,
  details: { phone_number: login.phone_number, kind: login.kind, ...details },
  ...(name === "login.failed" ? { outcome: "failed" as const } : {})
})

/** The journal's entry for a login that has begun. */
export const started = (login: LoginFacts): FurtherEntry => ({
  journal: journalAction("login.started"),
  targetId: login.id,
  accountId: login.account_id,
  details: { phone_number: login.phone_number, kind: login.kind }
})

/** Stores a change of a login that continues. */
export const goOn = Effect.fnUntraced(function*<E>(
  { held }: Plan,
  change: LoginChange,
  { now }: LoginStepContext,
  answer: E | null,
  release: "release" | "unsettled" = "release"
) {
  const login = yield* (yield* Logins).finishStep(held, change, release, now)
  if (login === null) return yield* new LoginEnded({})
  return {
    answer: answer === null ? Result.succeed(show(login, now)) : Result.fail(answer)
  } satisfies LoginEnd<E>
})

/** Ends the login with an error; what it has left on the messenger is taken back. */
export const fail = Effect.fnUntraced(function*<E extends { readonly _tag: string }>(
  { held }: Plan,
  error: E,
  { now }: LoginStepContext,
  code: string = error._tag
) {
  const expired = code === "login_expired"
  const change = { state: expired ? "expired" as const : "failed" as const, error: code }
  const login = yield* (yield* Logins).finishStep(held, change, "keep", now)
  if (login === null) return yield* new LoginEnded({})
  return {
    answer: Result.fail(error),
    events: [expired ? event("login.expired", login) : event("login.failed", login, { code })],
    leaves: true
  } satisfies LoginEnd<E>
})

/** Connects the account that was signed in to. */
export const complete = Effect.fnUntraced(function*(
  { held }: Plan,
  { connected, profile }: Extract<Calls.LoginReply, { readonly kind: "connected" }>,
  context: LoginStepContext
) {
  const logins = yield* Logins
  const { accountId, login, revived } = yield* logins.complete(held, connected, profile, context)
  const again = login.kind === "relogin"
  return {
    answer: Result.succeed(show(login, context.now)),
    events: [
      event("login.completed", login),
      {
        journal: journalAction(again ? "account.reconnected" : "account.connected"),
        targetId: accountId,
        accountId,
        details: revived ? { revived } : {}
      }
    ]
  } satisfies LoginEnd<never>
})

/** The refusal at the completion, as the caller sees it. */
const refusalOf = ({ reason }: LoginRefusal) => {
  switch (reason) {
    case "protected_here":
      return new AlreadyConnected({})
    case "protected_elsewhere":
      return new AlreadyConnected({ message: alreadyConnected.elsewhere })
    case "out_of_reach":
      return new AlreadyConnected({ message: alreadyConnected.outOfReach })
    case "no_free_seat":
      return new NoFreeSeat({})
    case "not_licensed":
      return new NotLicensed({})
    case "wrong_account":
      return new WrongAccount({})
  }
}

/** The login is over: nothing of it is connected, and what came of it on the messenger is taken back. */
export const refuse = (plan: Plan, because: LoginEnded | LoginRefusal, context: LoginStepContext) =>
  Effect.gen(function*() {
    if (because._tag === "LoginRefusal") return yield* fail(plan, refusalOf(because), context)
    return yield* new LoginEnded({})
  }).pipe(
    Effect.catchTag("LoginEnded", () =>
      Effect.gen(function*() {
        const { held } = plan
        const login = yield* (yield* Logins).read(held.organizationId, held.login.id)
        // A later step has it, or has completed it: what is on the messenger is that step's.
        const leaves = login !== null && !isOpen(login) && login.state !== "completed"
        return {
          answer: Result.fail(login?.state === "expired" ? new LoginExpired({}) : new LoginStep({})),
          leaves
        }
      }))
  )

/** Takes back on the messenger what the login has left there; what could not be is tried again later. */
export const leave = (
  { held }: Plan,
  said: Calls.LoginReply | null
): Effect.Effect<void, never, Db | Logins | Effect.Services<ReturnType<typeof Calls.cancel>>> =>
  Effect.gen(function*() {
    const state = said?.kind === "password" ? said.step.state : held.state
    const done = state === null || (yield* Calls.cancel(state))
    const db = yield* Db
    const logins = yield* Logins
    yield* Effect.ignore(db.transaction(held.organizationId, logins.leave(held, !done)))
  })

/** Asks the messenger, unless an earlier step whose end was lost has signed in already. */
export const unlessSignedIn = <R>({ held }: Plan, call: Effect.Effect<Calls.LoginReply, never, R>) =>
  Effect.gen(function*() {
    const { login, state, unsettled } = held
    const found = unsettled && state !== null ? yield* Calls.resolve(login.session_ref, state) : null
    return found ?? (yield* call)
  })

/** The answer to any other failure of a step: the login continues, with `change` reverted. */
export const otherwise = (
  plan: Plan,
  said: Calls.LoginReply | null,
  change: LoginChange,
  context: LoginStepContext
) => {
  switch (said?.kind) {
    case "busy":
      return goOn(plan, change, context, new MessengerUnavailable({ retry_after: said.seconds }))
    case "unlisted":
      return goOn(plan, change, context, new MessengerRefused({}))
    case "refused":
      return said.reason === "code_expired"
        ? fail(plan, new LoginExpired({}), context)
        : fail(plan, new MessengerRefused({}), context)
    default:
      return goOn(plan, change, context, new MessengerUnavailable({}), "unsettled")
  }
}
