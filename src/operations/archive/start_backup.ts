import { Effect } from "effect"
import { AccountAction, TargetAccount } from "../../domain/accounts/Account.ts"
import { backupRefusal } from "../../domain/archive/BackupRequest.ts"
import {
  ArchiveReadonly,
  NoArchiveKey,
  NoArchivePlan,
  NoSession,
  NotActive,
  StorageFull
} from "../../domain/Failure.ts"
import { archiveReaders } from "../../domain/people/Access.ts"
import { acted } from "../../domain/sessions/SessionReview.ts"
import * as Operation from "../../kernel/Operation.ts"
import { ArchiveRuns } from "../../ports/archive/ArchiveRuns.ts"
import { Organizations } from "../../ports/organization/Organizations.ts"
import * as samples from "./archive.samples.ts"

export const startBackup = Operation.write(
  "start_backup",
  {
    summary: "Have the chats of an account checked and archived now, and not only in the night.",
    description:
      "The run begins within seconds, unless one is under way: then it is repeated afterwards. Its progress is the account's archive.",
    method: "POST",
    path: "/v1/accounts/:account_id/archive/backup",
    toolset: "archive",
    scope: "accounts:write",
    roles: archiveReaders,
    idempotent: true,
    params: { account_id: TargetAccount },
    success: AccountAction,
    sample: samples.startBackup,
    failures: [NotActive, NoSession, NoArchivePlan, NoArchiveKey, ArchiveReadonly, StorageFull],
    journal: { action: "backup.queued", target: "account" }
  },
  Effect.fnUntraced(function*(_, { account, caller, now }) {
    const organization = yield* (yield* Organizations).facts(caller)
    const refusal = backupRefusal(account, organization, now)
    if (refusal !== null) return yield* refusal
    const answer = acted("backup_queued", account, null, now)
    const runs = yield* ArchiveRuns
    if (!(yield* runs.request({ organizationId: caller.organizationId, accountId: account.id }, now))) {
      return Operation.unchanged(answer)
    }
    return Operation.changed(answer)
  })
)
