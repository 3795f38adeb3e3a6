/** The noting of what an opened archive could not read. */
import { Effect, Metric } from "effect"
import { byCaller, record } from "../../changes/Record.ts"
import type { AccountId } from "../../domain/accounts/Account.ts"
import { now } from "../../domain/Moments.ts"
import type { Caller } from "../../domain/people/Access.ts"
import { ArchiveUnreadables, type UnreadableFrames } from "../../ports/archive/ArchiveUnreadables.ts"
import type { ArchivedAccount } from "../../ports/archive/Epochs.ts"
import { Db } from "../../ports/Db.ts"

const unreadable = Metric.counter("console_archive_unreadable_total", {
  description: "Pages of archives that were found not to open, each once",
  incremental: true
})

const unreadableFiles = Metric.counter("console_archive_unreadable_files_total", {
  description: "Saved files of archives whose contents were found missing or damaged, each once",
  incremental: true
})

/** Pages of one request that are kept; the next request finds the others. */
const mostAtOnce = 1000

const noteOfAccount = Effect.fnUntraced(function*(
  caller: Caller["Service"],
  account: UnreadableFrames["account"],
  numbers: ReadonlyArray<bigint>,
  now: Date
) {
  const { messages, pages } = yield* (yield* ArchiveUnreadables).note(account, numbers, now)
  if (pages === 0) return 0
  const { accountId } = account
  yield* record(byCaller(caller), "archive.unreadable", { id: accountId, accountId }, { pages, messages })
  return pages
})

/**
 * Counts, logs and journals pages that did not open, each once. A read is answered all the same where that fails, and
 * the next one notes them.
 */
export const noteUnreadable = Effect.fnUntraced(function*(
  caller: Caller["Service"],
  found: ReadonlyArray<UnreadableFrames>,
  now: Date
) {
  const db = yield* Db
  const byAccount = Map.groupBy(found.slice(0, mostAtOnce), ({ account }) => account.accountId)
  for (const [accountId, frames] of byAccount) {
    const account = { organizationId: caller.organizationId, accountId }
    const pages = yield* db.transaction(
      caller.organizationId,
      noteOfAccount(caller, account, frames.map(({ number }) => number), now)
    )
    if (pages === 0) continue
    yield* Metric.update(unreadable, pages)
    yield* Effect.annotateLogs(Effect.logWarning("Pages of an archive do not open"), {
      organization_id: caller.organizationId,
      account_id: accountId,
      pages
    })
  }
}, Effect.catchCause((cause) => Effect.logError("Unreadable pages were not noted", cause)))

const noteFilesOfAccount = Effect.fnUntraced(function*(
  caller: Caller["Service"],
  account: ArchivedAccount,
  fileIds: ReadonlyArray<string>
) {
  const files = yield* (yield* ArchiveUnreadables).noteFiles(account, fileIds, yield* now)
  if (files === 0) return 0
  const { accountId } = account
  yield* record(byCaller(caller), "archive.unreadable", { id: accountId, accountId }, { files })
  return files
})

/**
 * As `noteUnreadable`, for saved files of an account whose contents are missing or do not open. Their state stays: a store
 * that is mounted wrongly lacks every content, and has them all again.
 */
export const noteUnreadableFiles = Effect.fnUntraced(function*(
  caller: Caller["Service"],
  accountId: AccountId,
  fileIds: ReadonlyArray<string>
) {
  const { organizationId } = caller
  const db = yield* Db
  const files = yield* db.transaction(
    organizationId,
    noteFilesOfAccount(caller, { organizationId, accountId }, fileIds)
  )
  if (files === 0) return
  yield* Metric.update(unreadableFiles, files)
  yield* Effect.annotateLogs(Effect.logWarning("Files of an archive are missing or do not open"), {
    organization_id: organizationId,
    account_id: accountId,
    files
  })
}, Effect.catchCause((cause) => Effect.logError("Unreadable files were not noted", cause)))
