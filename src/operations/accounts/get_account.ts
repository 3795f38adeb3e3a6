import { Effect } from "effect"
import {
  AccountDetail,
  accountDetail,
  type AccountFacts,
  TargetAccount,
  unwatched
} from "../../domain/accounts/Account.ts"
import { everyone, seesDevices } from "../../domain/people/Access.ts"
import * as Operation from "../../kernel/Operation.ts"
import { Accounts, type WatchedAccount } from "../../ports/accounts/Accounts.ts"
import { Organizations } from "../../ports/organization/Organizations.ts"
import * as samples from "./accounts.samples.ts"

const unseen = (facts: AccountFacts): WatchedAccount => ({
  facts,
  monitor: unwatched,
  sessions: [],
  terminations: []
})

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
    find: (caller, id) =>
      Accounts.use((accounts) =>
        seesDevices(caller.role)
          ? accounts.findWatched(caller, id)
          : Effect.map(accounts.find(caller, id, false), (facts) => facts && unseen(facts))
      )
  },
  Effect.fnUntraced(function*(_, { account: { facts, monitor, sessions, terminations }, caller, now }) {
    const organization = yield* (yield* Organizations).facts(caller)
    return accountDetail(facts, organization, monitor, sessions, terminations, caller, now)
  })
)
