import { Effect } from "effect"
import { AccountDetail, accountDetail, TargetAccount, unwatched } from "../../domain/accounts/Account.ts"
import { terminationsShown } from "../../domain/Limits.ts"
import { everyone, seesDevices } from "../../domain/people/Access.ts"
import * as Operation from "../../kernel/Operation.ts"
import { Accounts } from "../../ports/accounts/Accounts.ts"
import { Organizations } from "../../ports/organization/Organizations.ts"
import * as samples from "./accounts.samples.ts"

export const getAccount = Operation.read(
  "get_account",
  {
    summary: "Read one account; with its sessions and monitoring for roles that protect accounts.",
    method: "GET",
    path: "/v1/accounts/:account_id",
    toolset: "accounts",
    scope: "org:read",
    roles: everyone,
    params: { account_id: TargetAccount },
    success: AccountDetail,
    sample: samples.getAccount,
    beside: Effect.fnUntraced(function*({ account_id }, caller) {
      if (!seesDevices(caller.role)) return { monitor: unwatched, sessions: [], terminations: [] }
      const accounts = yield* Accounts
      return yield* Effect.all({
        monitor: accounts.monitor(caller, account_id),
        sessions: accounts.sessions(caller, account_id),
        terminations: accounts.terminations(caller, account_id, terminationsShown)
      }, { concurrency: "unbounded" })
    })
  },
  Effect.fnUntraced(function*(_, { account, beside: { monitor, sessions, terminations }, caller, now }) {
    const facts = yield* (yield* Organizations).facts(caller)
    return accountDetail(account, facts, monitor, sessions, terminations, caller, now)
  })
)
