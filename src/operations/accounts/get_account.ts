import { Effect } from "effect"
import { everyone, seesDevices } from "../../domain/Access.ts"
import { AccountDetail, accountDetail, TargetAccount } from "../../domain/Account.ts"
import { terminationsShown } from "../../domain/Limits.ts"
import * as Operation from "../../kernel/Operation.ts"
import { Accounts } from "../../ports/Accounts.ts"
import { Organizations } from "../../ports/Organizations.ts"
import { sample } from "./get_account.sample.ts"

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
    sample
  },
  ({ account_id }, { account, caller, now }) =>
    Effect.gen(function*() {
      const accounts = yield* Accounts
      const organizations = yield* Organizations
      const devices = seesDevices(caller.role)
      const [facts, sessions, terminations] = yield* Effect.all([
        organizations.facts(caller),
        devices ? accounts.sessions(caller.organizationId, account_id) : Effect.succeed([]),
        devices ? accounts.terminations(caller.organizationId, account_id, terminationsShown) : Effect.succeed([])
      ], { concurrency: "unbounded" })
      return accountDetail(account, facts, sessions, terminations, caller, now)
    })
)
