/** Failures of steps that are worth repeating: what they would have stored is asked for again. */
import { Duration } from "effect"
import { ServiceUnavailable } from "../domain/Failure.ts"
import { WriterReplaced } from "../ports/archive/ArchiveWriter.ts"
import { PlatformBusy, PlatformRefused, PlatformUnavailable } from "../ports/messenger/MessengerSession.ts"

const kinds = [PlatformBusy, PlatformRefused, PlatformUnavailable, ServiceUnavailable, WriterReplaced] as const

type Away = InstanceType<typeof kinds[number]>

/** The messenger or the database does not answer now, or demands a wait. */
export const isAway = (failure: unknown): failure is Away => kinds.some((kind) => failure instanceof kind)

/** The database, or the right to write, is soon back. */
export const databasePause = Duration.seconds(1)

/** A messenger that does not answer, and one that answers that it fails. */
const messengerPause = Duration.seconds(30)
const failurePause = Duration.hours(6)

/** It concerns one box or method alone: other steps may succeed meanwhile. */
export const isOfOneBox = ({ _tag }: Away): boolean => _tag === "PlatformBusy" || _tag === "PlatformRefused"

/** The pause before a step is repeated. */
export const pauseAfter = (failure: Away): Duration.Duration => {
  switch (failure._tag) {
    case "PlatformBusy":
      return Duration.seconds(failure.retryAfterSeconds)
    case "PlatformUnavailable":
      return messengerPause
    case "PlatformRefused":
      return failurePause
    default:
      return databasePause
  }
}
