/** The start of a login, of a new account or of one that is known. */
import { Effect } from "effect"
import { byService, record } from "../../changes/Record.ts"
import type { AccountId, DepartmentId } from "../../domain/accounts/Account.ts"
import {
  CodeInvalid,
  LoginExpired,
  LoginInProgress,
  LoginStep,
  MessengerRefused,
  MessengerUnavailable,
  PasswordInvalid,
  PhoneRefused,
  TooManyAttempts,
  WrongAccount
} from "../../domain/Failure.ts"
import { isOver, isUnsettled, login as show, type LoginFacts, startWait } from "../../domain/logins/Login.ts"
import type { LoginStepContext } from "../../kernel/Operation.ts"
import * as Calls from "../../messenger/LoginCalls.ts"
import { Logins, LoginStarts } from "../../ports/logins/Logins.ts"
import { fail, goOn, leave, type Plan, refuse, started } from "./Steps.ts"

/** Refusals of the messenger and of a login that is open, whatever the login is for. */
export const refusals = [
  LoginInProgress,
  PhoneRefused,
  TooManyAttempts,
  LoginStep,
  LoginExpired,
  CodeInvalid,
  PasswordInvalid,
  WrongAccount
] as const

export interface NewLogin {
  readonly accountId: AccountId | null
  readonly phoneNumber: string
  readonly ownNumber: boolean
  readonly roleLabel: string | null
  readonly departmentId: DepartmentId | null
}

const tooMany = "Too many logins were started, by the organization or with this number. Try again later."

const another = ({ id }: LoginFacts) =>
  `A login with this number, or to this account, is open already: login ${id}, which can be cancelled.`

/** Ends an expired login that is still open. */
const expire = Effect.fnUntraced(function*(login: LoginFacts, { caller, now }: LoginStepContext) {
  const logins = yield* Logins
  yield* logins.end(caller.organizationId, login.id, "expired", now)
  const details = { phone_number: login.phone_number, kind: login.kind }
  yield* record(
    byService(caller.organizationId),
    "login.expired",
    { id: login.id, accountId: login.account_id },
    details
  )
})

/** The caller's open login for the same, another admin's as a refusal; null where there is none. */
const openOne = Effect.fnUntraced(function*({ accountId, phoneNumber }: NewLogin, context: LoginStepContext) {
  const { caller, now } = context
  const logins = yield* Logins
  for (const login of yield* logins.open(caller.organizationId, phoneNumber, accountId)) {
    if (isOver(login, now)) {
      yield* expire(login, context)
      continue
    }
    const seen = yield* logins.find(caller, login.id)
    if (seen === null) return yield* new LoginInProgress({})
    const isMine = login.started_by === caller.adminId && login.phone_number === phoneNumber &&
      login.account_id === accountId
    return isMine ? login : yield* new LoginInProgress({ message: another(login) })
  }
  return null
})

/** Counts and creates the login, or continues the caller's open one. */
export const enter = Effect.fnUntraced(function*(wanted: NewLogin, context: LoginStepContext) {
  const { caller, now } = context
  const logins = yield* Logins
  const open = yield* openOne(wanted, context)
  if (open !== null) {
    // Its first step was begun, and no code is known to have been sent.
    if (open.code_delivery !== null || open.busy_until === null) {
      return { changed: false as const, answer: show(open, now) }
    }
    if (!isUnsettled(open, now)) return { changed: "busy" as const }
    const held = yield* logins.hold(caller.organizationId, open.id, {}, now)
    return held === null ? { changed: "busy" as const } : { changed: true as const, plan: { held } }
  }
  const wait = startWait(
    yield* logins.started(caller.organizationId, wanted.phoneNumber, now),
    { perHour: yield* LoginStarts, ownNumber: wanted.ownNumber },
    now
  )
  if (wait !== null) return yield* new TooManyAttempts({ message: tooMany, retry_after: wait })
  const held = yield* logins.start(caller.organizationId, {
    kind: wanted.accountId === null ? "connect" : "relogin",
    accountId: wanted.accountId,
    phoneNumber: wanted.phoneNumber,
    roleLabel: wanted.roleLabel,
    departmentId: wanted.departmentId,
    startedBy: caller.adminId
  }, now)
  return { changed: true as const, plan: { held }, events: [started(held.login)] }
})

/** The steps after the first transaction, which every start has. */
export const steps = {
  act: ({ held: { login } }: Plan) => Calls.begin(login.session_ref, login.phone_number),
  settle: (plan: Plan, said: Calls.LoginReply | null, context: LoginStepContext) => {
    switch (said?.kind) {
      case "sent": {
        const { channel, codeLength, resendAt, state } = said.sent
        return goOn(
          plan,
          { messenger: state, code_delivery: channel, code_length: codeLength, resend_at: resendAt },
          context,
          null
        )
      }
      case "refused":
        return said.reason.startsWith("phone_")
          ? fail(plan, new PhoneRefused({ param: "phone_number" }), context)
          : fail(plan, new MessengerRefused({}), context)
      case "busy":
        return fail(plan, new MessengerUnavailable({ retry_after: said.seconds }), context)
      case "unlisted":
        return fail(plan, new MessengerRefused({}), context)
      default:
        return fail(plan, new MessengerUnavailable({}), context)
    }
  },
  refuse,
  leave
}
