/** Operations that answer the archive as it is stored. */
import { Clock, Effect } from "effect"
import { ArchiveClosed, LocalModeRequired, NoArchiveKey } from "../../domain/Failure.ts"
import { isArchiveOpen } from "../../domain/organization/Organization.ts"
import { Caller, readsSealed } from "../../domain/people/Access.ts"
import type { ArchiveKey } from "../../ports/archive/ArchiveKeys.ts"
import type { RequestContext } from "../Context.ts"
import type { Work } from "../Contract.ts"
import type { Resolve, Targeting } from "../Resolve.ts"
import { archiveFacts } from "./ArchiveFacts.ts"

/**
 * Runs outside any transaction, for a caller who opens the archive. The refusals come in the order of `runUnlocked`,
 * where the password would be; the operation counts what it answers as read.
 */
export const runSealed = <I extends Targeting, A, E, R>(
  resolve: Resolve,
  run: (input: I, context: RequestContext & { readonly key: ArchiveKey }) => Effect.Effect<A, E, R>
) => {
  const facts = archiveFacts<I>(resolve)
  return Effect.fnUntraced(function*(input: I) {
    const caller = yield* Caller
    if (!readsSealed(caller)) return yield* new LocalModeRequired({})
    const now = new Date(yield* Clock.currentTimeMillis)
    const { account, key, organization } = yield* facts(caller, input)
    const context = { caller, now, account: yield* Effect.fromResult(account) }
    if (key === null) return yield* new NoArchiveKey({})
    if (!isArchiveOpen(organization, now)) return yield* new ArchiveClosed({})
    return yield* run(input, { ...context, key })
  }) satisfies Work<"sealed" | "sealed_stream", R>
}
