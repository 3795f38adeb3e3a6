/** Signs the heads of journals, at most once a minute for each organization. */
import { Effect, Layer } from "effect"
import { byService, record } from "../../changes/Record.ts"
import { now } from "../../domain/Moments.ts"
import { Db } from "../../ports/Db.ts"
import { CheckpointSigning, type DueJournal } from "../../ports/journal/CheckpointSigning.ts"
import * as Job from "../Job.ts"

/** One transaction signs for so many organizations. */
const batch = 200

/** Journals that are read at a time. */
const readers = 4

/** Journals that another key signs from now on, once; it had better not go unseen. */
const journalKeyChange = Effect.fnUntraced(function*({ last, organization }: DueJournal) {
  const { holdForKeyChange, keyId } = yield* CheckpointSigning
  if (last === null || last.key_id === keyId) return
  yield* (yield* Db).transaction(
    organization,
    Effect.gen(function*() {
      const known = yield* holdForKeyChange(organization, last)
      if (known === null) return
      const details = { previous_key_id: last.key_id, previous_key_known: known }
      yield* record(byService(organization), "checkpoint_key.changed", { id: keyId }, details)
    })
  )
})

/** Reads a journal again from its last checkpoint; nothing where it cannot be signed, which is logged. */
const recompute = Effect.fnUntraced(function*(due: DueJournal) {
  const signing = yield* CheckpointSigning
  yield* journalKeyChange(due)
  const state = yield* signing.read(due)
  if (!("ok" in state)) return [state]
  if (yield* signing.markBroken(due.organization, state.sequence, yield* now)) {
    yield* Effect.logError(
      `The journal of ${due.organization} is not signed: it is broken at ${state.sequence} (${state.reason}), after ` +
        `checkpoint ${due.last?.number ?? 0}. See journal verify`
    )
  }
  return []
})

/** Signs every journal that is due, or with `all` every one that has events without a signature; returns how many. */
export const sign = Effect.fnUntraced(function*(all: boolean) {
  const signing = yield* CheckpointSigning
  let signed = 0
  let after = ""
  while (true) {
    const due = yield* signing.due(after, all, batch)
    const journals = yield* Effect.forEach(due, recompute, { concurrency: readers })
    signed += yield* signing.sign(journals.flat(), yield* now)
    const last = due.at(-1)
    if (last === undefined || due.length < batch) return signed
    after = last.organization
  }
})

/** One process at a time. Events that have waited too long are logged once for each journal. */
export const signCheckpoints = Job.makeWith("sign_checkpoints", {
  period: "15 seconds",
  does: "signs the journals that are due; at the end of a process that has the database alone, all of them",
  start: Effect.sync(() => {
    let reported: ReadonlySet<string> = new Set()
    const run = Effect.gen(function*() {
      const late = yield* (yield* CheckpointSigning).late
      for (const { at, organization, sequence } of late.filter((event) => !reported.has(event.organization))) {
        yield* Effect.logError(
          `No checkpoint covers event ${sequence} of ${organization}, of ${at.toISOString()}: until it was signed, the ` +
            "owner of the database could have changed it"
        )
      }
      reported = new Set(late.map(({ organization }) => organization))
      return yield* sign(false)
    })
    return { run, atEnd: sign(true) }
  })
})

/** Signs at its end everything that has no signature yet, where no other process uses the database. */
export const layerAtEnd = Layer.effectDiscard(Effect.addFinalizer(() =>
  sign(true).pipe(
    Effect.catchTag("service_unavailable", () => Effect.void),
    Effect.catchCause((cause) => Effect.logError("Checkpoints could not be signed", cause))
  )
))
