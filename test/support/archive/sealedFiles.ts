/** Files of a chat that was archived by `sealChats`, each with a message of its own. */
import { Effect, Stream } from "effect"
import * as crypto from "node:crypto"
import * as zlib from "node:zlib"
import { AccountId } from "../../../src/domain/accounts/Account.ts"
import { OrganizationId } from "../../../src/domain/people/Access.ts"
import { ArchiveKeys } from "../../../src/ports/archive/ArchiveKeys.ts"
import { ArchiveWriter } from "../../../src/ports/archive/ArchiveWriter.ts"
import { Db } from "../../../src/ports/Db.ts"

export interface SealedFile {
  readonly name: string
  readonly type: string
  /** Null for a content that is not saved. */
  readonly content: Uint8Array | null
  readonly album?: string
}

/** Adds messages with the files to a chat, at a time in Unix seconds; the ids of the files. */
export const sealFiles = Effect.fnUntraced(
  function*(organization: string, account: string, chatId: bigint, at: number, files: ReadonlyArray<SealedFile>) {
    const organizationId = OrganizationId.make(organization)
    const db = yield* Db
    const writer = yield* ArchiveWriter
    const key = yield* db.read(organizationId, (yield* ArchiveKeys).current(organizationId))
    if (key === null) return yield* Effect.die(new Error("There is no archive key"))
    const archive = yield* writer.own({ organizationId, accountId: AccountId.make(account) }, key, crypto.randomUUID())
    const sent = files.map((file, place) => ({ ...file, id: crypto.randomUUID(), message: BigInt(1000 + place) }))
    yield* db.transaction(
      organizationId,
      archive.append(
        chatId,
        sent.map(({ album, content, id, message, name, type }, place) => ({
          id: message,
          at: at + place,
          from: { id: "71", name: "sender", username: null },
          kind: type.startsWith("image/") ? "photo" as const : "document" as const,
          text: null,
          details: {
            files: [{ id, name, mime_type: type, bytes: content?.length ?? 9_999_999 }],
            ...(album === undefined ? {} : { album_id: album })
          }
        })),
        "sweep"
      )
    )
    for (const { content, id } of sent) {
      if (content === null) continue
      yield* archive.storeFile(id, {
        messengerFile: id,
        bytes: content.length,
        content: Stream.fromIterable(
          Array.from(
            { length: Math.ceil(content.length / 100_000) },
            (_, part) => content.subarray(part * 100_000, (part + 1) * 100_000)
          )
        )
      })
    }
    return sent.map(({ id }) => id)
  },
  Effect.scoped,
  Effect.orDie
)

const pngChunk = (type: string, data: Buffer): Buffer => {
  const body = Buffer.concat([Buffer.from(type, "latin1"), data])
  const framed = Buffer.alloc(body.length + 8)
  framed.writeUInt32BE(data.length)
  body.copy(framed, 4)
  framed.writeUInt32BE(zlib.crc32(body), body.length + 4)
  return framed
}

/** A picture of one colour, with a text that no viewer shows. */
export const pngWith = (text: string): Buffer => {
  const [width, height] = [240, 160]
  const header = Buffer.alloc(13)
  header.writeUInt32BE(width)
  header.writeUInt32BE(height, 4)
  header.set([8, 2], 8)
  const row = Buffer.concat([Buffer.from([0]), Buffer.alloc(width * 3, Buffer.from([58, 120, 190]))])
  return Buffer.concat([
    Buffer.from("\x89PNG\r\n\x1a\n", "latin1"),
    pngChunk("IHDR", header),
    pngChunk("tEXt", Buffer.from(`Comment\0${text}`, "latin1")),
    pngChunk("IDAT", zlib.deflateSync(Buffer.concat(Array.from({ length: height }, () => row)))),
    pngChunk("IEND", Buffer.alloc(0))
  ])
}
