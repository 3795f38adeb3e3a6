/** Chats that the messenger refuses: the others go on. */
import { Duration, Effect, Schedule } from "effect"
import type { ClaimedRun } from "../ports/archive/ArchiveRuns.ts"
import type { ArchivedAccount } from "../ports/archive/Epochs.ts"
import { ChatRefused } from "../ports/messenger/MessengerArchive.ts"
import { PlatformRefused } from "../ports/messenger/MessengerSession.ts"
import { commit } from "./CaptureSteps.ts"
import { storeRefusal } from "./StoredPages.ts"

/** The messenger is asked so many times for an answer that it fails to give, with pauses. */
const tries = 3
const pause = Duration.seconds(1)

const isFailed = (failure: unknown): failure is PlatformRefused => failure instanceof PlatformRefused

const isRefused = (failure: unknown): failure is ChatRefused | PlatformRefused =>
  failure instanceof ChatRefused || isFailed(failure)

/** Makes a step again where the messenger answers, and fails at what it asks for. */
export const someTimes = <A, E, R>(step: Effect.Effect<A, E, R>) =>
  Effect.retry(step, { times: tries - 1, schedule: Schedule.spaced(pause), while: isFailed })

/** Makes a step that asks for one chat; null where the messenger refuses the chat, which is not asked for again for hours. */
export const unlessRefused = <A, E, R>(
  account: ArchivedAccount,
  claimed: ClaimedRun | null,
  chatId: bigint,
  step: Effect.Effect<A, E | ChatRefused | PlatformRefused, R>
) =>
  someTimes(step).pipe(
    Effect.catchIf(isRefused, (refusal) => {
      const reason = refusal._tag === "ChatRefused" ? refusal.reason : "unknown"
      return Effect.gen(function*() {
        if (isFailed(refusal)) {
          yield* Effect.logWarning(`A chat of account ${account.accountId} is refused: ${refusal.reason}`)
        }
        yield* commit(account, claimed, () => storeRefusal(account, chatId, reason))
        return null
      })
    })
  )
