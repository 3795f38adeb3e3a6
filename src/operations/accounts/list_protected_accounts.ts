import { Effect, Schema } from "effect"
import { Account, account, AccountId, DepartmentId } from "../../domain/accounts/Account.ts"
import { AccountStatus } from "../../domain/accounts/ProtectionStatus.ts"
import { defaultPageLimit, List, page } from "../../domain/JsonShapes.ts"
import { pageRows, paging } from "../../domain/Paging.ts"
import { everyone } from "../../domain/people/Access.ts"
import * as Operation from "../../kernel/Operation.ts"
import { Accounts } from "../../ports/accounts/Accounts.ts"
import { Organizations } from "../../ports/organization/Organizations.ts"
import * as samples from "./accounts.samples.ts"

export const listProtectedAccounts = Operation.read(
  "list_protected_accounts",
  {
    summary: "List the accounts that the admin can access: protected, paused and offboarded ones alike, by name.",
    method: "GET",
    path: "/v1/accounts",
    toolset: "accounts",
    scope: "org:read",
    roles: everyone,
    query: {
      status: Schema.optionalKey(AccountStatus).annotateKey({ description: "Only accounts in this protection state." }),
      department_id: Schema.optionalKey(DepartmentId).annotateKey({
        description: "Only accounts filed under the department with this id."
      }),
      ...paging(AccountId, "accounts", "account")
    },
    success: List(Account).annotate({ identifier: "account_list" }),
    sample: samples.listProtectedAccounts
  },
  Effect.fnUntraced(function*({ department_id, limit = defaultPageLimit, starting_after, status }, { caller, now }) {
    const accounts = yield* Accounts
    const organizations = yield* Organizations
    const query = { status, departmentId: department_id, after: starting_after, limit }
    const facts = yield* organizations.facts(caller)
    const found = yield* accounts.list(caller, query, now)
    const rows = yield* pageRows(found, "there is no such account.")
    return page(rows.map((row) => account(row, facts, caller, now)), limit)
  })
)
