/** Facts that operations of the archive read before they run. */
import { Effect } from "effect"
import type { Caller } from "../../domain/people/Access.ts"
import { ArchiveKeys } from "../../ports/archive/ArchiveKeys.ts"
import { Db } from "../../ports/Db.ts"
import { Organizations } from "../../ports/organization/Organizations.ts"
import type { Resolve, Targeting } from "../Resolve.ts"

/** The account, or why it is none for the caller; the archive's key, null where there is none; and the organization. */
export const archiveFacts = <I extends Targeting>(resolve: Resolve) =>
  Effect.fnUntraced(function*(caller: Caller["Service"], input: I) {
    const db = yield* Db
    const keys = yield* ArchiveKeys
    const organizations = yield* Organizations
    return yield* db.read(
      caller.organizationId,
      Effect.all({
        account: Effect.result(resolve(caller, input, false)),
        key: keys.current(caller.organizationId),
        organization: organizations.facts(caller)
      }, { concurrency: "unbounded" })
    )
  })
