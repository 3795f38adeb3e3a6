import { Duration, Effect } from "effect"
import {
  AlreadyConnected,
  LoginExpired,
  LoginStep,
  NoFreeSeat,
  NotLicensed,
  ResendTooEarly,
  ResourceMissing,
  TooManyAttempts,
  WrongAccount
} from "../../domain/Failure.ts"
import { loginResends } from "../../domain/Limits.ts"
import { expiryOf, Login, TargetLogin } from "../../domain/logins/Login.ts"
import { protectors } from "../../domain/people/Access.ts"
import * as Operation from "../../kernel/Operation.ts"
import * as Calls from "../../messenger/LoginCalls.ts"
import * as samples from "./logins.samples.ts"
import { complete, findOpen, goOn, hold, leave, otherwise, type Plan, refuse, unlessSignedIn } from "./Steps.ts"

const resent = { action: "login.code_resent", target: "login" } as const

const tooMany = `A login has ${loginResends} codes more than the first. Start again once it has run out.`

export const resendLoginCode = Operation.login(
  "resend_login_code",
  {
    summary: "Have the messenger send another code, by its next channel; the code before stops.",
    description: "Three times for each login, and not before its resend_at.",
    method: "POST",
    path: "/v1/logins/:login_id/resend",
    toolset: "accounts",
    scope: "accounts:write",
    roles: protectors,
    idempotent: false,
    params: { login_id: TargetLogin },
    success: Login,
    sample: samples.resendLoginCode,
    failures: [
      ResourceMissing,
      LoginStep,
      LoginExpired,
      ResendTooEarly,
      TooManyAttempts,
      WrongAccount,
      NoFreeSeat,
      NotLicensed,
      AlreadyConnected
    ],
    journal: resent
  },
  {
    enter: ({ login_id }, context) =>
      Effect.gen(function*() {
        const login = yield* findOpen(login_id, context, "code_sent")
        if (login.resends >= loginResends) {
          const wait = login.expires_at.getTime() - context.now.getTime()
          return yield* new TooManyAttempts({
            message: tooMany,
            retry_after: Math.max(1, Math.ceil(Duration.toSeconds(Duration.millis(wait))))
          })
        }
        if (login.resend_at !== null && login.resend_at > context.now) {
          return yield* new ResendTooEarly({})
        }
        return yield* hold(login, context, { resends: login.resends + 1, expires_at: expiryOf(context.now) })
      }),
    act: (plan: Plan) =>
      plan.held.state === null
        ? Effect.succeed(Calls.unknown)
        : unlessSignedIn(plan, Calls.resend(plan.held.state)),
    settle: (plan, said, context) => {
      switch (said?.kind) {
        case "connected":
          return complete(plan, said, context)
        case "sent": {
          const { channel, codeLength, resendAt, state } = said.sent
          const { login } = plan.held
          return Effect.map(
            goOn(
              plan,
              { messenger: state, code_delivery: channel, code_length: codeLength, resend_at: resendAt },
              context,
              null
            ),
            (ended) => ({
              ...ended,
              events: [{
                journal: resent,
                targetId: login.id,
                accountId: login.account_id,
                details: { code_delivery: channel }
              }]
            })
          )
        }
        case "busy":
          return otherwise(plan, said, { resends: plan.held.login.resends - 1 }, context)
        default:
          return otherwise(plan, said, {}, context)
      }
    },
    refuse,
    leave
  }
)
