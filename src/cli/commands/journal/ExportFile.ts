/** Verifies an exported journal by itself: without the database, and without a key that signs. */
import { Effect, Option, Schema } from "effect"
import * as fs from "node:fs"
import { Checkpoint, type PublicJwk, PublicKeys } from "../../../domain/journal/Checkpoint.ts"
import { JournalEvent } from "../../../domain/journal/JournalEvent.ts"
import { judge } from "../../../layers/crypto/journal/CheckpointKeys.ts"
import { eventHash, seedHash } from "../../../layers/sql/journal/JournalRows.ts"
import { refuse } from "../../../operator/UseCase.ts"

const Line = Schema.fromJsonString(
  Schema.Union([
    JournalEvent,
    Checkpoint,
    Schema.Struct({ object: Schema.Literal("journal_keys"), ...PublicKeys.fields })
  ])
)

/** The proof of an export: the events that continue one another, and up to which of them a known key has signed. */
export interface ExportProof {
  readonly organization: string
  readonly ok: boolean
  readonly sequence: number
  readonly signed: number
  readonly reason: string | null
  readonly keys: ReadonlyArray<string>
  /** True if the keys are those of the file itself, which proves nothing against the author of the file. */
  readonly own_keys: boolean
}

/** Verifies the file; without `keys` by those that it carries. */
export const verifyExport = Effect.fnUntraced(function*(file: string, keys: Option.Option<ReadonlyArray<PublicJwk>>) {
  if (!fs.existsSync(file)) return yield* refuse(`${file} cannot be read.`)
  const decode = Schema.decodeUnknownEffect(Line)
  const hashes = new Map<number, string>()
  const checkpoints: Array<Checkpoint> = []
  let carried: ReadonlyArray<PublicJwk> = []
  let sequence = 0
  let first: JournalEvent | undefined
  let hash = ""
  let reason: string | null = null
  const texts = yield* Effect.sync(() => fs.readFileSync(file, "utf8").split("\n"))
  for (const [index, text] of texts.entries()) {
    if (text === "") continue
    const line = yield* Effect.mapError(decode(text), () => `line ${index + 1}`).pipe(
      Effect.catch((where) => refuse(`${file} is not an exported journal: ${where} is neither event nor checkpoint.`))
    )
    if (line.object === "journal_keys") carried = line.keys
    else if (line.object === "journal_checkpoint") checkpoints.push(line)
    else if (reason === null) {
      if (first !== undefined && line.sequence !== sequence + 1) reason = "gap"
      else if (first !== undefined && line.prev_hash !== hash) reason = "link"
      else if (line.hash !== eventHash(line)) reason = "hash"
      else {
        first ??= line
        sequence = line.sequence
        hash = line.hash
        hashes.set(sequence, hash)
      }
    }
  }
  const [organization, ...others] = [...new Set(checkpoints.map((checkpoint) => checkpoint.organization))]
  if (first === undefined && reason === null) return yield* refuse(`${file} holds no event: it proves nothing.`)
  if (organization === undefined) return yield* refuse(`${file} holds no checkpoint: it proves nothing.`)
  const believed = Option.getOrElse(keys, () => carried)
  if (first?.sequence === 1 && first.prev_hash !== seedHash(organization)) reason ??= "link"
  if (others.length > 0) reason ??= "checkpoint"
  let signed = 0
  const signers = new Set<string>()
  for (const checkpoint of checkpoints) {
    const judged = judge(believed, checkpoint)
    if (judged !== "good") reason ??= judged
    else if (
      (hashes.get(checkpoint.sequence) ?? (checkpoint.sequence > sequence ? "" : checkpoint.hash)) !== checkpoint.hash
    ) {
      reason ??= checkpoint.sequence > sequence ? "truncated" : "checkpoint"
    } else {
      signed = Math.max(signed, checkpoint.sequence)
      signers.add(checkpoint.key_id)
    }
  }
  const proof: ExportProof = {
    organization,
    ok: reason === null,
    sequence,
    signed,
    reason,
    keys: [...signers],
    own_keys: Option.isNone(keys)
  }
  return proof
})
