/** The entry of a code and of a password: the same step with another secret. */
import { Effect, type Redacted } from "effect"
import {
  AlreadyConnected,
  CodeInvalid,
  LoginExpired,
  LoginStep,
  NoFreeSeat,
  NotLicensed,
  PasswordInvalid,
  ResourceMissing,
  WrongAccount
} from "../../domain/Failure.ts"
import { expiryOf } from "../../domain/logins/Login.ts"
import type { LoginStepContext } from "../../kernel/Operation.ts"
import * as Calls from "../../messenger/LoginCalls.ts"
import { complete, fail, findOpen, goOn, hold, leave, otherwise, type Plan, refuse, unlessSignedIn } from "./Steps.ts"

interface Entry extends Plan {
  readonly secret: Redacted.Redacted
  /** No entry was left: the previous one may have been right, and the messenger is not called again. */
  readonly exhausted: boolean
}

const kinds = {
  code: {
    state: "code_sent",
    submit: Calls.submitCode,
    wrong: () => new CodeInvalid({ param: "code" })
  },
  password: {
    state: "password_needed",
    submit: Calls.submitPassword,
    wrong: () => new PasswordInvalid({ param: "password" })
  }
} as const

/** Refusals of an entry. */
export const refusals = [
  ResourceMissing,
  LoginStep,
  LoginExpired,
  CodeInvalid,
  PasswordInvalid,
  WrongAccount,
  NoFreeSeat,
  NotLicensed,
  AlreadyConnected
] as const

/** The steps of entering a code or password; the entry is counted before the messenger is called. */
export const submitting = (kind: keyof typeof kinds) => {
  const { state, submit, wrong } = kinds[kind]
  return {
    enter: (id: string, secret: Redacted.Redacted, context: LoginStepContext) =>
      Effect.gen(function*() {
        const login = yield* findOpen(id, context, state)
        const exhausted = login.attempts_left === 0
        const held = yield* hold(login, context, {
          attempts_left: Math.max(0, login.attempts_left - 1),
          expires_at: expiryOf(context.now)
        })
        return held.changed === "busy" ? held : { changed: true as const, plan: { ...held.plan, secret, exhausted } }
      }),
    act: (plan: Entry) => {
      const { login, state: messenger } = plan.held
      const asked: ReturnType<typeof submit> = plan.exhausted || messenger === null
        ? Effect.succeed({ kind: "refused", reason: "attempts_exhausted" })
        : submit(login.session_ref, messenger, plan.secret)
      return unlessSignedIn(plan, asked)
    },
    settle: (plan: Entry, said: Calls.LoginReply | null, context: LoginStepContext) => {
      const left = plan.held.login.attempts_left
      const back = { attempts_left: left + 1 }
      switch (said?.kind) {
        case "connected":
          return complete({ held: { ...plan.held, login: { ...plan.held.login, ...back } } }, said, context)
        case "password":
          return goOn(
            plan,
            {
              ...back,
              state: "password_needed",
              password_hint: said.step.hint,
              resend_at: null,
              messenger: said.step.state
            },
            context,
            null
          )
        case "wrong_password":
          return left === 0 ? fail(plan, wrong(), context) : goOn(plan, {}, context, wrong())
        case "refused":
          if (said.reason === "attempts_exhausted" || said.reason === "code_invalid" && left === 0) {
            return fail(plan, wrong(), context)
          }
          if (said.reason === "code_invalid") return goOn(plan, {}, context, wrong())
          return otherwise(plan, said, back, context)
        default:
          return otherwise(plan, said, back, context)
      }
    },
    refuse: (plan: Entry, because: Parameters<typeof refuse>[1], context: LoginStepContext) =>
      refuse(plan, because, context),
    leave: (plan: Entry, said: Calls.LoginReply | null) => leave(plan, said)
  }
}
