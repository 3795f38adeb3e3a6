/** The content of a file as a stream that goes on where a connection was lost or a wait was demanded, at a rate. */
import { Duration, Effect, Stream } from "effect"
import { messengerTimeout } from "../domain/Limits.ts"
import type { ChatReader, FileExpired, FileGone, FileSeen } from "../ports/messenger/MessengerArchive.ts"
import { type MessengerFailure, PlatformUnavailable } from "../ports/messenger/MessengerSession.ts"
import { longestWait } from "./CaptureSteps.ts"
import type { Pacer } from "./Pacer.ts"

/** Reading begins at multiples of it. */
export const partSize = 1024 * 1024

/** A connection that is lost so often in a row, or a wait that is demanded so often, ends the reading. */
const losses = 3
const lossPause = Duration.seconds(1)

type Failure = FileExpired | FileGone | MessengerFailure

/** Bytes from `seen` on, over a stream that begins at a multiple of the parts' size. */
const after = (bytes: Uint8Array, from: number, seen: number): Uint8Array =>
  bytes.subarray(Math.min(bytes.length, Math.max(0, seen - from)))

/** The whole content. Each part has a deadline, and takes its place at the rate. */
export const contentOf = (
  reader: Pick<ChatReader, "file">,
  { location }: Pick<FileSeen, "location">,
  pacer: Pacer
): Stream.Stream<Uint8Array, Failure> => {
  const from = (seen: number, left: number): Stream.Stream<Uint8Array, Failure> => {
    let at = seen
    const start = Math.floor(seen / partSize) * partSize
    let read = start
    const part = (bytes: Uint8Array) => {
      const fresh = after(bytes, read, at)
      read += bytes.length
      at += fresh.length
      return fresh
    }
    return reader.file(location, start).pipe(
      Stream.timeoutOrElse({ duration: messengerTimeout, orElse: () => Stream.fail(new PlatformUnavailable({})) }),
      Stream.tap(() => pacer.take),
      Stream.map(part),
      Stream.filter((bytes) => bytes.length > 0),
      Stream.catchTag(["PlatformBusy", "PlatformUnavailable"], (failure) => {
        const pause = failure._tag === "PlatformBusy" ? Duration.seconds(failure.retryAfterSeconds) : lossPause
        const next = at > seen ? losses : left - 1
        return left === 0 || Duration.isGreaterThan(pause, longestWait)
          ? Stream.fail(failure)
          : Stream.unwrap(Effect.as(Effect.sleep(pause), Stream.suspend(() => from(at, next))))
      })
    )
  }
  return Stream.suspend(() => from(0, losses))
}
