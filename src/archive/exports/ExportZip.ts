/** A part of an export as one ZIP, made while it is sent: nothing of it is held but counts, digests and names. */
import { Effect, Stream } from "effect"
import type { StoredExport, StoredPart } from "../../domain/archive/ArchiveExport.ts"
import { hex, utf8 } from "../../domain/archive/Bytes.ts"
import { ContentDigest } from "../../ports/archive/ContentDigest.ts"
import { ExportRecords } from "../../ports/archive/ExportRecords.ts"
import { Db } from "../../ports/Db.ts"
import type { OpenAccount } from "../OpenedFrames.ts"
import { type ExportEnded, exportFiles, type ReadContent } from "./ExportFiles.ts"
import { manifestFile, type ManifestHead, manifestName, pagesName, writeManifest } from "./ExportManifest.ts"
import type { ExportTally } from "./ExportTally.ts"
import { type KnownStart, type PartChanged, resumed } from "./ResumedPart.ts"
import { maxZipEntries, zip, type ZipEntry } from "./Zip.ts"

/** The newest manifest and checkpoint of the export's moment. */
const proofOf = Effect.fnUntraced(function*({ account }: OpenAccount, until: Date) {
  const db = yield* Db
  const exports = yield* ExportRecords
  const { checkpoint, manifest } = yield* db.read(
    account.organizationId,
    Effect.all({
      manifest: exports.manifest(account, until),
      checkpoint: exports.checkpoint(account.organizationId, until)
    }, { concurrency: "unbounded" })
  )
  return {
    checkpoint,
    archive_manifest: manifest === null ? null : {
      sequence: String(manifest.sequence),
      at: manifest.at.toISOString(),
      pages: manifest.pages,
      after_page: String(manifest.afterPage),
      last_page: String(manifest.lastPage),
      root: hex(manifest.root),
      hash: hex(manifest.hash)
    }
  }
})

type Proof = Effect.Success<ReturnType<typeof proofOf>>

const headOf = (
  made: StoredExport,
  part: StoredPart,
  { account }: OpenAccount,
  tally: ExportTally,
  pages: number,
  proof: Proof
): ManifestHead => ({
  organization: account.organizationId,
  export: {
    id: made.id,
    part: part.number,
    parts: made.parts,
    format: made.format,
    media: made.media,
    criteria: {
      account_ids: made.accountIds,
      chat_ids: made.chatIds === null ? null : made.chatIds.map(String),
      since: made.since,
      until: made.until
    },
    created_by: made.createdBy,
    created_at: made.createdAt.toISOString()
  },
  account: { id: account.accountId, name: made.accountNames[made.accountIds.indexOf(part.accountId)] ?? "" },
  first_day: part.firstDay,
  last_day: part.lastDay,
  planned: { messages: part.messages, files: part.files },
  found: {
    messages: tally.messages,
    files: tally.files,
    edits: tally.edits,
    deleted_on_messenger: tally.deleted
  },
  deleted_since: {
    messages: Math.max(0, part.messages - tally.messages - tally.unreadable),
    files: Math.max(0, part.files - tally.files - tally.leftOut)
  },
  unreadable: {
    messages: tally.unreadable,
    edits: tally.lostEdits,
    titles: tally.lostTitles,
    files: tally.unreadableFiles.length
  },
  files_left_out: tally.leftOut,
  ...(tally.editsLeftOut === 0 ? {} : { edits_left_out: tally.editsLeftOut }),
  pages: { count: pages, file: pagesName },
  ...proof
})

/** The pages that were read, a line each: their numbers and digests, by number. */
const pagesText = (tally: ExportTally, lastPage: bigint): { readonly text: string; readonly count: number } => {
  const pages = [...tally.pages()].filter(([number]) => number <= lastPage)
    .sort(([one], [other]) => one < other ? -1 : one > other ? 1 : 0)
  return { count: pages.length, text: pages.map(([number, digest]) => `${number} ${hex(digest)}\n`).join("") }
}

/** A part that was made to its end. */
export interface MadePart {
  readonly size: number
  readonly sha256: Uint8Array
  readonly messages: number
  readonly files: number
  /** Messages, edits and files that did not open, as its manifest says. */
  readonly unreadable: number
}

/** Counts and hashes what is made, leaves out what the client has, and says so once the rest has passed to its end. */
const watched = <E, R, R2>(
  bytes: Stream.Stream<Uint8Array, E, R>,
  tally: ExportTally,
  known: KnownStart | null,
  end: (made: MadePart) => Effect.Effect<void, E, R2>
) =>
  Stream.unwrap(Effect.gen(function*() {
    const digest = yield* (yield* ContentDigest).start
    let knownMessages = 0
    const passed = Stream.map(bytes, (piece) => {
      digest.update(piece)
      tally.bytes += piece.length
      if (known !== null && tally.bytes <= known.bytes) knownMessages = tally.messages
      return piece
    })
    const ended = Effect.suspend(() =>
      end({
        size: tally.bytes,
        sha256: digest.digest(),
        messages: tally.messages,
        files: tally.files,
        unreadable: tally.unreadable + tally.lostEdits + tally.unreadableFiles.length
      })
    )
    const sent: Stream.Stream<Uint8Array, E | PartChanged, R | ContentDigest> = known === null
      ? passed
      : resumed(passed, known)
    const counted = Stream.map(sent, (piece) => {
      tally.sentMessages = tally.messages - knownMessages
      return piece
    })
    return Stream.concat(counted, Stream.fromEffectDrain(ended))
  }))

/** A part that is to be made, and what is done once it was sent to its end. */
export interface PartToMake<R, R2> {
  readonly made: StoredExport
  readonly part: StoredPart
  readonly open: OpenAccount
  readonly read: ReadContent<R>
  readonly tally: ExportTally
  /** The bytes that the client has already; null where it has none. */
  readonly known: KnownStart | null
  readonly end: (made: MadePart) => Effect.Effect<void, ExportEnded, R2>
}

/**
 * The bytes of a part: the same each time, as long as nothing of it is deleted. Order and times are fixed, and what was
 * archived or seen after the export was made is left out.
 */
export const exportZip = <R, R2>({ end, known, made, open, part, read, tally }: PartToMake<R, R2>) =>
  Stream.unwrap(Effect.gen(function*() {
    const digests = yield* ContentDigest
    const lines: Array<string> = []
    const name = made.accountNames[made.accountIds.indexOf(part.accountId)] ?? ""
    const files = exportFiles({
      open,
      days: { chatIds: made.chatIds, firstDay: part.firstDay, lastDay: part.lastDay },
      until: made.createdAt,
      media: made.media,
      tally,
      exportId: made.id,
      format: made.format,
      title: `Chats of ${name}, ${part.firstDay} to ${part.lastDay}`,
      account: { id: part.accountId, name },
      read
    })
    const hashed = <E2, R2>({ content, path }: ZipEntry<E2, R2>): ZipEntry<E2, R2> => ({
      path,
      content: Stream.unwrap(Effect.map(digests.start, (digest) => {
        let size = 0
        return content.pipe(
          Stream.map((bytes) => {
            digest.update(bytes)
            size += bytes.length
            return bytes
          }),
          Stream.concat(Stream.suspend(() => {
            lines.push(manifestFile(path, size, hex(digest.digest())))
            return Stream.empty
          }))
        )
      }))
    })
    let entries = 0
    const within = Stream.filter(files, () => {
      entries++
      if (entries > maxZipEntries) tally.leftOut++
      return entries <= maxZipEntries
    })
    const last = Stream.unwrap(Effect.gen(function*() {
      const proof = yield* proofOf(open, made.createdAt)
      const { count, text } = pagesText(tally, part.lastPage)
      const pages: ZipEntry = { path: pagesName, content: Stream.succeed(utf8(text)) }
      const manifest: ZipEntry = {
        path: manifestName,
        content: Stream.sync(() =>
          utf8(writeManifest(headOf(made, part, open, tally, count, proof), lines, tally.unreadableFiles))
        )
      }
      return Stream.make(hashed(pages), manifest)
    }))
    return watched(zip(Stream.concat(Stream.map(within, hashed), last)), tally, known, end)
  }))
