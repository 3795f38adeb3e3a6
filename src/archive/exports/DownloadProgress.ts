/** The progress of a download: kept beside its bytes and not on their way, so that nothing that it waits for holds them up. */
import { Cause, Clock, Effect, Exit, Option, Schedule, Stream } from "effect"
import {
  downloadKept,
  downloadKeptStill,
  type DownloadReport,
  type DownloadStop,
  type PartProgress
} from "../../domain/archive/ExportDownload.ts"
import type { ExportTally } from "./ExportTally.ts"

type Keep<E, R> = (report: DownloadReport) => Effect.Effect<void, E, R>

const progressOf = ({ bytes, files, messages }: ExportTally): PartProgress => ({ bytes, files, messages })

const isSame = (one: PartProgress, other: PartProgress): boolean =>
  one.bytes === other.bytes && one.files === other.files && one.messages === other.messages

const stops: ReadonlyMap<string, DownloadStop> = new Map([
  ["ArchiveLocked", "archive_closed"],
  ["PartChanged", "changed"],
  ["StoreSilent", "storage_unavailable"],
  ["service_unavailable", "service_unavailable"]
])

const stopOf = <E extends { readonly _tag: string }>(cause: Cause.Cause<E>): DownloadStop =>
  Cause.hasInterruptsOnly(cause)
    ? "connection_lost"
    : Option.match(Cause.findErrorOption(cause), {
      onNone: () => "unexpected",
      onSome: ({ _tag }) => stops.get(_tag) ?? "unexpected"
    })

/**
 * The bytes, whose progress is kept once a second at most, and what ends them early. A progress that cannot be kept ends
 * nothing.
 */
export const reported = <E extends { readonly _tag: string }, R, E2, R2>(
  bytes: Stream.Stream<Uint8Array, E, R>,
  tally: ExportTally,
  keep: Keep<E2, R2>
): Stream.Stream<Uint8Array, E, R | R2> =>
  Stream.scoped(Stream.unwrap(Effect.gen(function*() {
    let kept: PartProgress = { bytes: -1, messages: 0, files: 0 }
    let keptAt = 0
    const report = Effect.fnUntraced(function*(end: DownloadStop | null) {
      const now = yield* Clock.currentTimeMillis
      const progress = progressOf(tally)
      if (end === null && isSame(kept, progress) && now - keptAt < downloadKeptStill) return
      yield* keep({ ...progress, at: new Date(now), end })
      kept = progress
      keptAt = now
    }, Effect.ignoreCause({ log: "Debug" }))
    const beside = Effect.repeat(report(null), Schedule.spaced(downloadKept))
    yield* Effect.forkScoped(Effect.delay(beside, downloadKept))
    return Stream.onExit(bytes, (exit) => Exit.isSuccess(exit) ? Effect.void : report(stopOf(exit.cause)))
  })))
