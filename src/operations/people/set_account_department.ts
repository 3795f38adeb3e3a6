import { Effect, Schema } from "effect"
import { account as show, ChangedAccount, DepartmentId, TargetAccount } from "../../domain/accounts/Account.ts"
import { AccessNotApplicable, ResourceMissing } from "../../domain/Failure.ts"
import { protectors } from "../../domain/people/Access.ts"
import * as Operation from "../../kernel/Operation.ts"
import { Accounts } from "../../ports/accounts/Accounts.ts"
import { ArchiveRules } from "../../ports/archive/ArchiveRules.ts"
import { Organizations } from "../../ports/organization/Organizations.ts"
import { Departments } from "../../ports/people/Departments.ts"
import * as samples from "./people.samples.ts"

const beyond = "Who moves an account must be able to access it there too."

export const setAccountDepartment = Operation.write(
  "set_account_department",
  {
    summary: "File an account under a department, or under none; anyone who is granted the department can access it.",
    description:
      "The caller must be able to access all of that department, and the account after the move. Nobody moves one out of their own access, or out of a connection's limit.",
    method: "PUT",
    path: "/v1/accounts/:account_id/department",
    toolset: "accounts",
    scope: "accounts:write",
    roles: protectors,
    confirm: true,
    idempotent: true,
    params: { account_id: TargetAccount },
    body: {
      department_id: Schema.NullOr(DepartmentId).annotateKey({
        description: "The department's id, from list_departments; null for none."
      })
    },
    success: ChangedAccount,
    sample: samples.setAccountDepartment,
    failures: [ResourceMissing, AccessNotApplicable],
    journal: { action: "account.department_set", target: "account" }
  },
  Effect.fnUntraced(function*({ department_id }, { account, caller, now }) {
    const accounts = yield* Accounts
    const departments = yield* Departments
    const organizations = yield* Organizations
    const { accessible, shown } = yield* departments.lockMove(caller, account.department_id, department_id)
    if (!shown) return yield* new ResourceMissing({ param: "department_id" })
    if (!accessible) return yield* new AccessNotApplicable({ param: "department_id", message: beyond })
    const facts = yield* organizations.facts(caller)
    if (department_id === account.department_id) return Operation.unchanged(show(account, facts, caller, now))
    yield* accounts.setDepartment(caller.organizationId, account, department_id)
    const own = { level: "account" as const, target: account.id, chatId: null }
    yield* (yield* ArchiveRules).selectAgain(caller.organizationId, own, now)
    // The rules of the department may select something of it, or nothing.
    const moved = yield* accounts.find(caller, account.id, true)
    if (moved === null) return yield* new AccessNotApplicable({ param: "department_id", message: beyond })
    const from = account.department_id === null ? {} : { from: account.department_id }
    return Operation.changed(
      show(moved, facts, caller, now),
      department_id === null ? from : { ...from, department_id }
    )
  })
)
