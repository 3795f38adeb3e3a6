/** The commands about journals: show, verify, export, and keep checkpoints of them. */
import { Effect, Option, Stream } from "effect"
import { Command, Flag } from "effect/cli"
import { readPublicKeys } from "../../../layers/crypto/journal/CheckpointKeys.ts"
import type * as Journals from "../../../operator/journal/Journals.ts"
import { Refused } from "../../../operator/UseCase.ts"
import type { ControlRequest, Holder } from "../../process/ControlClient.ts"
import * as Settings from "../../settings/Settings.ts"
import { asking, common, organization, run, sending } from "../OperatorCommand.ts"
import * as Output from "../Output.ts"
import * as CheckpointFile from "./CheckpointFile.ts"
import * as ExportFile from "./ExportFile.ts"

const chosen = Flag.String("organization").pipe(
  Flag.withDescription("One organization; all of them by default"),
  Flag.optional
)

const checkpoints = Flag.String("checkpoint").pipe(
  Flag.withDescription("A file of checkpoints that were printed or pushed earlier, to compare with"),
  Flag.optional
)

const publicKey = Flag.String("public-key").pipe(
  Flag.withDescription("A file of public keys to believe: what /.well-known/journal-keys answered, or PEM"),
  Flag.optional
)

const exported = Flag.String("export").pipe(
  Flag.withDescription("Verify this file, which `journal export` wrote, and no database"),
  Flag.optional
)

const readCheckpoints = (file: Option.Option<string>) =>
  Option.isNone(file) ? Effect.succeed([]) : CheckpointFile.read(file.value)

const readKeys = (file: Option.Option<string>) =>
  Option.isNone(file)
    ? Effect.succeedNone
    : Effect.map(Effect.flatMap(CheckpointFile.readText(file.value), readPublicKeys), Option.some)

const reasons: Readonly<Record<string, string>> = {
  gap: "an event is missing",
  link: "an event does not continue the one before",
  hash: "an event is not what its hash says",
  head: "the newest events are missing, or some were added",
  truncated: "it ends before a checkpoint",
  missing: "a checkpoint names it, and the database does not have it",
  checkpoint: "an event is not the one of a checkpoint",
  unsigned: "no checkpoint covers an event that is older than two minutes",
  signature: "a checkpoint's signature is not its key's",
  key: "a checkpoint was signed by a key that is not known; --public-key names one"
}

const checkpointReasons: Readonly<Record<string, string>> = {
  gap: "a checkpoint is missing",
  link: "a checkpoint does not continue the one before",
  signature: "its signature is not its key's",
  key: "it was signed by a key that is not known; --public-key names one",
  replaced: "another one was seen there before",
  lost: "it was seen before, and the database does not have it"
}

/** Asks as an auditor, who has none of the service's secrets. */
const audit = Effect.fnUntraced(
  function*<A>(settings: Settings.Database, asked: ControlRequest<Pick<Holder, "journal_verify">, A>) {
    const { invoke } = yield* Effect.promise(() => import("../../process/ControlClient.ts"))
    const here = Effect.flatMap(
      Effect.promise(() => import("../../process/LocalRequests.ts")),
      ({ audit }) => audit(settings)
    )
    return yield* invoke(settings, asked, here)
  }
)

const verifyDatabase = Effect.fnUntraced(function*(
  input: Settings.Database & {
    readonly json: boolean
    readonly organization: Option.Option<string>
    readonly checkpoints: Option.Option<string>
    readonly publicKey: Option.Option<string>
  }
) {
  yield* Output.progress("Verifying")
  const asked = {
    organization: Option.getOrNull(input.organization),
    checkpoints: yield* readCheckpoints(input.checkpoints),
    public_keys: Option.getOrElse(yield* readKeys(input.publicKey), () => [])
  }
  const answer = yield* (Option.isSome(input.publicKey)
    ? audit(input, (requests) => requests.journal_verify(asked))
    : run(input, (requests) => requests.journal_verify(asked), { reads: true })).pipe(
      Effect.ensuring(Output.progressDone)
    )
  const { checkpoints } = answer
  yield* Output.print(input.json, answer, () => [
    ...Output.columns(answer.journals.map((journal) => [
      journal.organization,
      journal.ok ? `${journal.sequence} events, unbroken` : `BROKEN at ${journal.sequence}`,
      journal.ok ? journal.hash ?? "" : reasons[journal.reason ?? ""] ?? ""
    ])),
    checkpoints.ok
      ? `${checkpoints.number} checkpoints, signed by ${checkpoints.keys.join(", ") || "nobody yet"}`
      : `Checkpoint ${checkpoints.number} is BROKEN: ${checkpointReasons[checkpoints.reason ?? ""] ?? ""}`
  ])
  return answer.ok
})

const verifyFile = Effect.fnUntraced(function*(file: string, input: {
  readonly json: boolean
  readonly publicKey: Option.Option<string>
}) {
  const proof = yield* ExportFile.verifyExport(file, yield* readKeys(input.publicKey))
  yield* Output.print(input.json, proof, () => [
    proof.ok
      ? `${proof.organization}: ${proof.sequence} events, unbroken, signed up to ${proof.signed} by ${
        proof.keys.join(", ")
      }`
      : `${proof.organization}: BROKEN after ${proof.sequence}: ${reasons[proof.reason ?? ""] ?? ""}`,
    ...(proof.own_keys ? ["The keys are the file's own: --public-key names those that you trust."] : [])
  ])
  return proof.ok
})

const verify = Command.make(
  "verify",
  { ...common, organization: chosen, checkpoints, publicKey, exported },
  (input) =>
    Effect.gen(function*() {
      const ok = Option.isSome(input.exported)
        ? yield* verifyFile(input.exported.value, input)
        : yield* verifyDatabase(input)
      if (!ok) return yield* new Refused({ message: "A journal is broken." })
    })
).pipe(Command.withDescription("Check that journals are whole, unchanged and signed; exit code 1 when one is not"))

const checkpoint = Command.make(
  "checkpoint",
  asking({ organization: Flag.map(chosen, Option.getOrNull) }),
  sending(
    (requests, asked) => requests.journal_checkpoint(asked),
    ({ checkpoints }) =>
      Output.columns(checkpoints.map((head) => [head.organization, String(head.sequence), head.hash]))
  )
).pipe(
  Command.withDescription("Print each journal's newest checkpoint; keep it elsewhere, and verify against it later")
)

const csvColumns = [
  "sequence",
  "id",
  "at",
  "action",
  "outcome",
  "actor.type",
  "actor.admin_id",
  "actor.name",
  "credential.kind",
  "credential.id",
  "credential.label",
  "via",
  "account_id",
  "target.type",
  "target.id",
  "details",
  "ip",
  "request_id",
  "closes",
  "prev_hash",
  "hash"
] as const

/** A cell that a spreadsheet shows as text: quoted, and never taken for a formula. */
const csvCell = (value: unknown): string => {
  const text = value === null || value === undefined
    ? ""
    : typeof value === "object"
    ? JSON.stringify(value)
    : String(value)
  return `"${(/^[=+\-@\t\r]/.test(text) && typeof value !== "number" ? `'${text}` : text).replaceAll("\"", "\"\"")}"`
}

const csvLine = (event: { readonly [key: string]: unknown }): string =>
  csvColumns.map((column) => {
    const [first = "", second] = column.split(".")
    const value = event[first]
    return csvCell(second === undefined ? value : new Map(Object.entries(value ?? {})).get(second))
  }).join(",")

type Page = typeof Journals.exportJournal.output.Type

/** Writes lines, and waits until they are taken. */
const write = (lines: ReadonlyArray<string>) =>
  Effect.callback<void>((resume) => {
    process.stdout.write(lines.map((line) => `${line}\n`).join(""), () => resume(Effect.void))
  })

const exportJournal = Command.make("export", {
  ...Settings.database,
  organization,
  format: Flag.Literals("format", ["ndjson", "csv"]).pipe(
    Flag.withDescription("How events are written"),
    Flag.withDefault<"ndjson" | "csv">("ndjson")
  ),
  after: Flag.Int("after-sequence").pipe(Flag.withDescription("Only the events after this one"), Flag.withDefault(0))
}, (input) =>
  Effect.gen(function*() {
    const ndjson = input.format === "ndjson"
    if (!ndjson) yield* write([csvColumns.join(",")])
    const writePage = Effect.fnUntraced(function*({ checkpoints, events, last_sequence }: Page) {
      yield* write(events.map((event) => ndjson ? JSON.stringify(event) : csvLine({ ...event })))
      if (ndjson) yield* write(checkpoints.map((checkpoint) => JSON.stringify(checkpoint)))
      yield* Output.progress(`${events.at(-1)?.sequence ?? last_sequence} of ${last_sequence} events`)
    })
    const last = yield* run(
      input,
      (requests) =>
        requests.journal_export({ organization: input.organization, after_sequence: input.after }).pipe(
          Stream.tap(writePage),
          Stream.runLast
        ),
      { reads: true }
    ).pipe(Effect.ensuring(Output.progressDone))
    if (ndjson && Option.isSome(last)) yield* write([JSON.stringify({ object: "journal_keys", keys: last.value.keys })])
  })).pipe(
    Command.withDescription("Write a journal with its hashes, signed checkpoints and public keys, oldest first"),
    Output.examples(["journal export acme --format csv > journal.csv", "For a spreadsheet"])
  )

type Event = typeof Journals.tailJournal.output.Type["events"][number]

/** An event in a line. Its details are JSON, so that no text in them reaches a terminal as it is. */
const eventLine = (event: Event): string =>
  [
    event.at.toISOString(),
    String(event.sequence),
    event.outcome === "done" ? event.action : `${event.action} (${event.outcome})`,
    `by ${event.actor.name === null ? event.actor.type : JSON.stringify(event.actor.name)}`,
    ...(event.account_id === null ? [] : [`account ${event.account_id}`]),
    ...(Object.keys(event.details).length === 0 ? [] : [JSON.stringify(event.details)])
  ].join("  ")

/** Events in a request while following: more of them come with the next one. */
const eventsPerRequest = 1000

const tail = Command.make("tail", {
  ...Settings.database,
  organization,
  lines: Flag.Int("lines").pipe(
    Flag.withAlias("n"),
    Flag.withDescription(`How many events are shown at first, ${eventsPerRequest} at most`),
    Flag.withDefault(10),
    Flag.filter((value) => value >= 1 && value <= eventsPerRequest, () => `a number from 1 to ${eventsPerRequest}`)
  ),
  follow: Flag.Boolean("follow").pipe(
    Flag.withAlias("f"),
    Flag.withDescription("Show further events as they come, until Ctrl+C"),
    Flag.withDefault(false)
  ),
  json: Flag.Boolean("json").pipe(Flag.withDescription("Print each event as a line of JSON"), Flag.withDefault(false))
}, (input) =>
  run(
    input,
    (requests) =>
      Effect.gen(function*() {
        const show = Effect.fnUntraced(function*(after: number | null, limit: number) {
          const asked = { organization: input.organization, after_sequence: after, limit }
          const { events, last_sequence } = yield* requests.journal_tail(asked)
          yield* write(events.map((event) => input.json ? JSON.stringify(event) : eventLine(event)))
          return events.at(-1)?.sequence ?? last_sequence
        })
        let last = yield* show(null, input.lines)
        while (input.follow) {
          yield* Effect.sleep("1 second")
          last = yield* show(last, eventsPerRequest)
        }
      }),
    { reads: true }
  )).pipe(
    Command.withDescription("Show the newest events of a journal, and with --follow those that come"),
    Output.examples(["journal tail acme --follow", "Watch it while the service runs"])
  )

export const journal = Command.make("journal").pipe(
  Command.withSubcommands([tail, verify, exportJournal, checkpoint])
)
