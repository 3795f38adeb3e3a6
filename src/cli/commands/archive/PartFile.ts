/** Verifies a downloaded part of an export by itself: without the database, and without the archive password. */
import { Effect, Option, Schema } from "effect"
import * as crypto from "node:crypto"
import * as fs from "node:fs"
import { compareFiles, type FoundFile, readManifest } from "../../../archive/exports/ExportComparison.ts"
import { type ExportManifest, manifestName } from "../../../archive/exports/ExportManifest.ts"
import type { PublicJwk } from "../../../domain/journal/Checkpoint.ts"
import { JournalEvent } from "../../../domain/journal/JournalEvent.ts"
import { forEachEntry } from "../../../layers/archive/ZipReader.ts"
import { judge } from "../../../layers/crypto/journal/CheckpointKeys.ts"
import { refuse, Refused } from "../../../operator/UseCase.ts"
import { verifyExport } from "../journal/ExportFile.ts"
import { digestFile } from "./FileDigest.ts"

/** A manifest of 65,000 files is smaller. */
const largestManifest = 64 * 1024 * 1024

/** The findings about a part; lists are of the paths in it. */
export interface PartProof {
  readonly ok: boolean
  readonly organization: string
  readonly export: string
  readonly part: number
  readonly parts: number
  readonly files: number
  readonly missing: ReadonlyArray<string>
  readonly changed: ReadonlyArray<string>
  readonly added: ReadonlyArray<string>
  /** Files that could not be read to their end when the part was made, as its manifest says. */
  readonly unreadable: ReadonlyArray<string>
  /** The signature of the manifest's checkpoint; null where it has none, or no keys are given. */
  readonly checkpoint: "good" | "signature" | "key" | null
  /** The part among those that the journal says were sent; null where no journal is given. */
  readonly journal: "sent" | "other_content" | "not_sent" | "broken" | "other_checkpoint" | null
}

/** The files of the ZIP, each with its hash, and its manifest. */
const readPart = Effect.fnUntraced(function*(file: string) {
  const found: Array<FoundFile> = []
  const manifest: Array<Uint8Array> = []
  yield* forEachEntry(file, ({ path, read }) =>
    Effect.gen(function*() {
      const hash = crypto.createHash("sha256")
      const isManifest = path === manifestName && found.every((each) => each.path !== manifestName)
      let bytes = 0
      yield* read((piece) => {
        hash.update(piece)
        bytes += piece.length
        if (isManifest && bytes <= largestManifest) manifest.push(piece)
      })
      found.push({ path, bytes, sha256: hash.digest("hex") })
    })).pipe(
      Effect.mapError(({ reason }) => new Refused({ message: `${file} is no whole ZIP: ${reason}.` }))
    )
  return { found, manifest: readManifest(Buffer.concat(manifest).toString()) }
})

const decodeEvent = Schema.decodeUnknownOption(Schema.fromJsonString(JournalEvent))

/** Compares the file with what an exported journal says was sent; the journal itself is verified first. */
const findSent = Effect.fnUntraced(function*(
  file: string,
  journal: string,
  keys: Option.Option<ReadonlyArray<PublicJwk>>,
  { checkpoint, export: made, organization }: ExportManifest
) {
  const proof = yield* verifyExport(journal, keys)
  if (!proof.ok || proof.organization !== organization) return "broken"
  const events = fs.readFileSync(journal, "utf8").split("\n").flatMap((line) => Option.toArray(decodeEvent(line)))
  const signed = checkpoint === null ? undefined : events.find(({ sequence }) => sequence === checkpoint.sequence)
  if (signed !== undefined && signed.hash !== checkpoint?.hash) return "other_checkpoint"
  const sent = events.filter(({ action, details, target }) =>
    action === "archive_export.downloaded" && target?.id === made.id && details["part"] === made.part
  )
  if (sent.length === 0) return "not_sent"
  const { bytes, sha256 } = yield* digestFile(file)
  const isSent = sent.some(({ details }) => details["bytes"] === bytes && details["sha256"] === sha256)
  return isSent ? "sent" : "other_content"
})

export const verifyPart = Effect.fnUntraced(function*(
  file: string,
  journal: Option.Option<string>,
  keys: Option.Option<ReadonlyArray<PublicJwk>>
) {
  if (!fs.existsSync(file)) return yield* refuse(`${file} cannot be read.`)
  const { found, manifest } = yield* readPart(file)
  if (Option.isNone(manifest)) return yield* refuse(`${file} has no manifest of an export: it proves nothing.`)
  const { checkpoint, export: made, organization, unreadable_files } = manifest.value
  const compared = compareFiles(manifest.value, found)
  const signature = checkpoint === null || Option.isNone(keys) ? null : judge(keys.value, checkpoint)
  const sent = Option.isNone(journal) ? null : yield* findSent(file, journal.value, keys, manifest.value)
  const isWhole = compared.missing.length + compared.changed.length + compared.added.length === 0
  const proof: PartProof = {
    ok: isWhole && (signature === null || signature === "good") && (sent === null || sent === "sent"),
    organization,
    export: made.id,
    part: made.part,
    parts: made.parts,
    files: found.length,
    ...compared,
    unreadable: unreadable_files.map(({ path }) => path),
    checkpoint: signature,
    journal: sent
  }
  return proof
})
