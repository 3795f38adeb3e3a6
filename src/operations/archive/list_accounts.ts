import { Effect } from "effect"
import { AccountId } from "../../domain/accounts/Account.ts"
import { ArchiveAccount, archiveAccount } from "../../domain/archive/ArchiveAccount.ts"
import { archiveSummary } from "../../domain/archive/ArchiveSummary.ts"
import { defaultPageLimit, List, page } from "../../domain/JsonShapes.ts"
import { pageRows, paging } from "../../domain/Paging.ts"
import { archiveReaders } from "../../domain/people/Access.ts"
import * as Operation from "../../kernel/Operation.ts"
import { Accounts } from "../../ports/accounts/Accounts.ts"
import { ArchiveChats } from "../../ports/archive/ArchiveChats.ts"
import { Organizations } from "../../ports/organization/Organizations.ts"
import * as samples from "./archive.samples.ts"

export const listAccounts = Operation.read(
  "list_accounts",
  {
    summary: "List the accounts that the admin can access with what is archived of each, by name.",
    description: "It takes no archive password: numbers and times are not sealed.",
    method: "GET",
    path: "/v1/archive/accounts",
    toolset: "archive",
    scope: "archive:read",
    roles: archiveReaders,
    archive: true,
    query: paging(AccountId, "accounts", "account"),
    success: List(ArchiveAccount).annotate({ identifier: "archive_account_list" }),
    sample: samples.listAccounts
  },
  Effect.fnUntraced(function*({ limit = defaultPageLimit, starting_after }, { caller, now }) {
    const accounts = yield* Accounts
    const organizations = yield* Organizations
    const chats = yield* ArchiveChats
    const query = { status: undefined, departmentId: undefined, after: starting_after, limit }
    const facts = yield* organizations.facts(caller)
    const rows = yield* pageRows(yield* accounts.list(caller, query, now), "there is no such account.")
    const totals = yield* chats.totals(caller.organizationId, rows.map(({ id }) => id))
    return page(
      rows.map((row) => archiveAccount(row, totals.get(row.id), archiveSummary(row, facts, now, true).saving)),
      limit
    )
  })
)
