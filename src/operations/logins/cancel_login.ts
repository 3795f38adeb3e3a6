import { Effect, Result } from "effect"
import { LoginStep, ResourceMissing } from "../../domain/Failure.ts"
import { journalAction } from "../../domain/journal/JournalEntry.ts"
import { cancelled, isOpen, isOver, Login, login as show, TargetLogin } from "../../domain/logins/Login.ts"
import type { LoginFacts } from "../../domain/logins/Login.ts"
import { protectors } from "../../domain/people/Access.ts"
import * as Operation from "../../kernel/Operation.ts"
import * as Calls from "../../messenger/LoginCalls.ts"
import { type HeldLogin, Logins } from "../../ports/logins/Logins.ts"
import * as samples from "./logins.samples.ts"
import { find } from "./Steps.ts"

interface Plan {
  readonly login: LoginFacts
  /** Null while another step has it: that one takes back what it leaves on the messenger. */
  readonly held: HeldLogin | null
}

export const cancelLogin = Operation.login(
  "cancel_login",
  {
    summary: "End a login: its code works no longer, and nothing of it stays on the messenger.",
    method: "POST",
    path: "/v1/logins/:login_id/cancel",
    toolset: "accounts",
    scope: "accounts:write",
    roles: protectors,
    idempotent: true,
    params: { login_id: TargetLogin },
    success: Login,
    sample: samples.cancelLogin,
    failures: [ResourceMissing, LoginStep],
    journal: journalAction("login.cancelled")
  },
  {
    enter: ({ login_id }, { caller, now }) =>
      Effect.gen(function*() {
        const logins = yield* Logins
        const before = yield* find(login_id, caller)
        if (before.state === "cancelled") return { changed: false as const, answer: show(before, now) }
        const login = isOpen(before) && !isOver(before, now)
          ? yield* logins.end(caller.organizationId, login_id, "cancelled", now)
          : null
        if (login === null) return yield* new LoginStep({})
        return {
          changed: true as const,
          plan: { login, held: yield* logins.hold(caller.organizationId, login_id, {}, now) },
          events: [cancelled(login)]
        }
      }),
    act: ({ held }: Plan) => held === null || held.state === null ? Effect.succeed(true) : Calls.cancel(held.state),
    settle: ({ held, login }, done, { now }) =>
      Effect.gen(function*() {
        if (held !== null) yield* (yield* Logins).leave(held, done !== true)
        return { answer: Result.succeed(show(login, now)) }
      }),
    refuse: ({ login }, _, { now }) => Effect.succeed({ answer: Result.succeed(show(login, now)) }),
    leave: () => Effect.void
  }
)
