import { Effect } from "effect"
import { AccountId } from "../../domain/accounts/Account.ts"
import { ResourceMissing } from "../../domain/Failure.ts"
import type { Caller } from "../../domain/people/Access.ts"
import { Accounts } from "../../ports/accounts/Accounts.ts"
import { ArchiveFiles } from "../../ports/archive/ArchiveFiles.ts"
import { Db } from "../../ports/Db.ts"

export const nobody = AccountId.make("00000000-0000-7000-8000-000000000000")

/**
 * The file of an operation's path, of an account that the caller can access. One that is not there, another
 * organization's, and one out of reach fail alike, after the same statements.
 */
export const requireFile = Effect.fnUntraced(function*(caller: Caller["Service"], fileId: string) {
  const accounts = yield* Accounts
  const db = yield* Db
  const files = yield* ArchiveFiles
  return yield* db.read(
    caller.organizationId,
    Effect.gen(function*() {
      const [file = null] = yield* files.find(caller.organizationId, [fileId])
      const account = yield* accounts.find(caller, file?.accountId ?? nobody, false)
      return file === null || account === null ? yield* new ResourceMissing({ param: "file_id" }) : file
    })
  )
})
