/** Operations that take one step of a login: checked and claimed, sent to the messenger, and stored. */
import { Clock, Duration, Effect, Exit, Result } from "effect"
import * as Changes from "../../changes/Record.ts"
import type { AccountFacts } from "../../domain/accounts/Account.ts"
import { MessengerUnavailable } from "../../domain/Failure.ts"
import { loginWait } from "../../domain/Limits.ts"
import type { OrganizationFacts } from "../../domain/organization/Organization.ts"
import { Caller } from "../../domain/people/Access.ts"
import { noteUnavailable } from "../../messenger/BoundedCalls.ts"
import { Db } from "../../ports/Db.ts"
import type { Journal } from "../../ports/journal/Journal.ts"
import type { LoginEnded, LoginRefusal, Logins } from "../../ports/logins/Logins.ts"
import type { Outbox } from "../../ports/mail/Outbox.ts"
import type { MessengerSession } from "../../ports/messenger/MessengerSession.ts"
import { Organizations } from "../../ports/organization/Organizations.ts"
import type { Departments } from "../../ports/people/Departments.ts"
import type { Unchanged } from "../Context.ts"
import type { Work } from "../Contract.ts"
import type { KeepAnswer } from "../Idempotency.ts"
import type { Resolve, Targeting } from "../Resolve.ts"

/**
 * The context of a step: within its transactions the organization is locked, and the account of the path where one is.
 */
export interface LoginStepContext {
  readonly caller: Caller["Service"]
  readonly now: Date
  readonly organization: OrganizationFacts
  readonly account: AccountFacts | undefined
}

/** The step has the login. */
export interface EnteredStep<P> {
  readonly changed: true
  readonly plan: P
  readonly events?: ReadonlyArray<Changes.FurtherEntry>
}

/** Another step has the login: it is tried again in a moment. */
export interface LoginBusy {
  readonly changed: "busy"
}

/** The end of a step. */
export interface LoginStepEnd<A, E> {
  readonly answer: Result.Result<A, E>
  readonly events?: ReadonlyArray<Changes.FurtherEntry>
  /** Something of the login is still to be taken back on the messenger. */
  readonly leaves?: boolean
}

/** The services that the steps may need. */
export type LoginServices = Db | Departments | Journal | Logins | MessengerSession | Outbox

export interface LoginSteps<I, P, S, A, E> {
  /** Finds, checks, counts and claims the login. */
  enter(input: I, context: LoginStepContext): Effect.Effect<EnteredStep<P> | Unchanged<A> | LoginBusy, E, LoginServices>
  /** Asks the messenger, outside any transaction. */
  act(plan: P): Effect.Effect<S, never, LoginServices>
  /** Stores the result; null where it is unknown. A failure undoes what it wrote. */
  settle(
    plan: P,
    said: S | null,
    context: LoginStepContext
  ): Effect.Effect<LoginStepEnd<A, E>, LoginEnded | LoginRefusal, LoginServices>
  /** Records that the account was not connected, or that the login has ended meanwhile. */
  refuse(
    plan: P,
    because: LoginEnded | LoginRefusal,
    context: LoginStepContext
  ): Effect.Effect<LoginStepEnd<A, E>, never, LoginServices>
  /** Takes back on the messenger what the login has left there. */
  leave(plan: P, said: S | null): Effect.Effect<void, never, LoginServices>
}

const retryInterval = Duration.millis(100)

/** Runs one step: whatever it leaves behind in a crash is found by the next one, or by the job that ends logins. */
export const runLogin = <I extends Targeting, P, S, A, E>(resolve: Resolve, steps: LoginSteps<I, P, S, A, E>) =>
  Effect.fnUntraced(function*(input: I, keep?: KeepAnswer) {
    const caller = yield* Caller
    const db = yield* Db
    const organizations = yield* Organizations
    const { organizationId } = caller

    const entering = Effect.gen(function*() {
      // Everything that takes a seat locks the organization before any account.
      const organization = yield* organizations.lockFacts(organizationId)
      const account = yield* resolve(caller, input, true)
      return { caller, organization, account, now: new Date(yield* Clock.currentTimeMillis) } satisfies LoginStepContext
    })

    const enter = db.transaction(
      organizationId,
      Effect.gen(function*() {
        const entered = yield* steps.enter(input, yield* entering)
        if (entered.changed === true) yield* Changes.recordAll(Changes.byCaller(caller), entered.events)
        if (entered.changed === false && keep !== undefined) yield* keep(entered.answer)
        return entered
      })
    )

    const end = (ended: LoginStepEnd<A, E>) =>
      Effect.gen(function*() {
        yield* Changes.recordAll(Changes.byCaller(caller), ended.events)
        if (Result.isSuccess(ended.answer) && keep !== undefined) yield* keep(ended.answer.success)
        return ended
      })

    const settle = (plan: P, said: S | null) =>
      db.transaction(
        organizationId,
        Effect.gen(function*() {
          return yield* end(yield* steps.settle(plan, said, yield* entering))
        })
      ).pipe(
        Effect.catchTags({
          LoginEnded: (because) => refused(plan, because),
          LoginRefusal: (because) => refused(plan, because)
        })
      )

    const refused = (plan: P, because: LoginEnded | LoginRefusal) =>
      db.transaction(
        organizationId,
        Effect.gen(function*() {
          return yield* end(yield* steps.refuse(plan, because, yield* entering))
        })
      )

    const until = (yield* Clock.currentTimeMillis) + Duration.toMillis(loginWait)
    let entered = yield* enter
    while (entered.changed === "busy") {
      if ((yield* Clock.currentTimeMillis) >= until) {
        yield* noteUnavailable("another step of the login is under way")
        return yield* new MessengerUnavailable({ retry_after: 1 })
      }
      yield* Effect.sleep(retryInterval)
      entered = yield* enter
    }
    if (entered.changed === false) return entered.answer
    const { plan } = entered
    return yield* Effect.uninterruptibleMask((restore) =>
      Effect.gen(function*() {
        const exit = yield* Effect.exit(restore(steps.act(plan)))
        const said = Exit.isSuccess(exit) ? exit.value : null
        const ended = yield* settle(plan, said)
        if (ended.leaves === true) yield* steps.leave(plan, said)
        if (Exit.isFailure(exit)) return yield* Effect.failCause(exit.cause)
        return yield* Effect.fromResult(ended.answer)
      })
    )
  }) satisfies Work<"login", LoginServices>
