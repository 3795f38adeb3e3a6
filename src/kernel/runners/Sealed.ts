/** Operations that answer the archive as it is stored. */
import { Clock, Effect } from "effect"
import { ArchiveClosed, LocalModeRequired, NoArchiveKey } from "../../domain/Failure.ts"
import { isArchiveOpen } from "../../domain/organization/Organization.ts"
import { Caller, readsSealed } from "../../domain/people/Access.ts"
import { type ArchiveKey, ArchiveKeys } from "../../ports/archive/ArchiveKeys.ts"
import { Db } from "../../ports/Db.ts"
import { Organizations } from "../../ports/organization/Organizations.ts"
import type { RequestContext } from "../Context.ts"
import type { Work } from "../Contract.ts"
import type { Resolve, Targeting } from "../Resolve.ts"

/**
 * Runs outside any transaction, for a caller who opens the archive. The refusals come in the order of `runUnlocked`,
 * where the password would be; the operation counts what it answers as read.
 */
export const runSealed = <I extends Targeting, A, E, R>(
  resolve: Resolve,
  run: (input: I, context: RequestContext & { readonly key: ArchiveKey }) => Effect.Effect<A, E, R>
) =>
  Effect.fnUntraced(function*(input: I) {
    const caller = yield* Caller
    if (!readsSealed(caller)) return yield* new LocalModeRequired({})
    const db = yield* Db
    const keys = yield* ArchiveKeys
    const organizations = yield* Organizations
    const now = new Date(yield* Clock.currentTimeMillis)
    const known = yield* db.read(
      caller.organizationId,
      Effect.all({
        account: Effect.result(resolve(caller, input, false)),
        key: keys.current(caller.organizationId),
        organization: organizations.facts(caller)
      }, { concurrency: "unbounded" })
    )
    const account = yield* Effect.fromResult(known.account)
    if (known.key === null) return yield* new NoArchiveKey({})
    if (!isArchiveOpen(known.organization, now)) return yield* new ArchiveClosed({})
    return yield* run(input, { caller, now, account, key: known.key })
  }) satisfies Work<"sealed" | "sealed_stream", R>
