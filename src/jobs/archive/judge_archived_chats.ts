import { Effect } from "effect"
import { AccountId } from "../../domain/accounts/Account.ts"
import { now } from "../../domain/Moments.ts"
import { Accounts } from "../../ports/accounts/Accounts.ts"
import { ArchiveRules } from "../../ports/archive/ArchiveRules.ts"
import type { ArchivedAccount } from "../../ports/archive/Epochs.ts"
import { Db } from "../../ports/Db.ts"
import { eachAlone } from "../Batch.ts"
import * as Job from "../Job.ts"

const accountsPerRun = 500

/** Another process, or a step of capture, may have judged it meanwhile. */
const judge = Effect.fnUntraced(function*(account: ArchivedAccount) {
  const rules = yield* ArchiveRules
  yield* (yield* Accounts).holdArchive(account.organizationId, account.accountId)
  if (yield* rules.settle(account)) yield* rules.judge(account, yield* now)
})

/** Each account commits by itself: what a process that ends leaves is the next run's, of any process. */
export const judgeArchivedChats = Job.make("judge_archived_chats", {
  period: "5 seconds",
  does:
    "judges the chats of accounts whose rules of the archive have changed, where a change concerns too many for itself",
  run: Effect.gen(function*() {
    const db = yield* Db
    yield* eachAlone(
      yield* (yield* ArchiveRules).due(accountsPerRun),
      ({ id, organizationId }) =>
        db.transaction(organizationId, judge({ accountId: AccountId.make(id), organizationId }))
    )
  })
})
