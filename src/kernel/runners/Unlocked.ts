/** Operations that open the archive with its password. */
import { Clock, Effect } from "effect"
import { ArchiveClosed, BridgeRequired, NoArchiveKey } from "../../domain/Failure.ts"
import { isArchiveOpen } from "../../domain/organization/Organization.ts"
import { Caller } from "../../domain/people/Access.ts"
import { ArchiveReads } from "../../ports/archive/ArchiveReads.ts"
import { ArchiveUnlock, type Unlocked } from "../../ports/archive/ArchiveUnlock.ts"
import type { UnreadableFrames } from "../../ports/archive/ArchiveUnreadables.ts"
import type { RequestContext } from "../Context.ts"
import type { Work } from "../Contract.ts"
import type { Resolve, Targeting } from "../Resolve.ts"
import { archiveFacts } from "./ArchiveFacts.ts"
import { noteUnreadable } from "./UnreadableNotes.ts"

/**
 * Opens the archive for a request, until the scope closes.
 *
 * The password is checked before the account may be missing, and the archive's state after that. An organization without
 * an archive key has no password to check.
 */
export const opening = <I extends Targeting>(resolve: Resolve) => {
  const facts = archiveFacts<I>(resolve)

  return Effect.fnUntraced(function*(input: I) {
    const caller = yield* Caller
    if (caller.limit?.local === true) return yield* new BridgeRequired({})
    const unlock = yield* ArchiveUnlock
    const now = new Date(yield* Clock.currentTimeMillis)
    const { account, key, organization } = yield* facts(caller, input)
    const archive = key === null ? null : yield* unlock.open(caller, key)
    const context = { caller, now, account: yield* Effect.fromResult(account) }
    if (archive === null) return yield* new NoArchiveKey({})
    if (!isArchiveOpen(organization, now)) return yield* new ArchiveClosed({})
    return { ...context, archive }
  })
}

/**
 * Runs with the opened archive, outside any transaction: what it reads, it reads in short ones of its own. What is
 * answered about an account is counted before it is sent.
 */
export const runUnlocked = <I extends Targeting, A, E, R>(
  resolve: Resolve,
  messages: ((answer: A) => number) | undefined,
  run: (input: I, context: RequestContext & { readonly archive: Unlocked }) => Effect.Effect<A, E, R>
) => {
  const open = opening<I>(resolve)
  return Effect.fnUntraced(function*(input: I) {
    const context = yield* open(input)
    const missed: Array<UnreadableFrames> = []
    const archive: Unlocked = {
      ...context.archive,
      missed: (account, number) => void missed.push({ account, number })
    }
    const answer = yield* Effect.ensuring(
      run(input, { ...context, archive }),
      Effect.suspend(() =>
        missed.length > 0 && !archive.isReplaced ? noteUnreadable(context.caller, missed, context.now) : Effect.void
      )
    )
    if (input.account_id !== undefined) {
      const read = { accountId: input.account_id, messages: messages?.(answer) ?? 0 }
      yield* (yield* ArchiveReads).note(context.caller, [read])
    }
    return answer
  }, Effect.scoped) satisfies Work<"unlocked", R>
}
