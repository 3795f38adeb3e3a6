/**
 * Files of the simulated platform's messages at data centres. The end of a name says where it is: `@2` at the second
 * one, `@1>2` at the second one although its messages name the first.
 */
import { Long } from "@mtcute/core"
import { Stream } from "effect"
import * as crypto from "node:crypto"
import type { FileSeen } from "../../../src/ports/messenger/MessengerArchive.ts"
import { type Clients, type Handlers, kept, refuse } from "./Clients.ts"
import type { Key } from "./DataCentre.ts"
import type { Word } from "./Words.ts"

const place = /@(\d)(?:>(\d))?$/

const placeOf = (name: string) => {
  const [, named = "1", moved] = place.exec(name) ?? []
  return { named: Number(named), home: Number(moved ?? named) }
}

const idOf = (name: string): Long =>
  Long.fromBytesLE([...crypto.createHash("sha256").update(name).digest().subarray(0, 7), 0])

/** A message's first file, in the words of the platform. */
export const mediaOf = ([file]: ReadonlyArray<FileSeen>): Word | null =>
  file === undefined ? null : {
    _: "messageMediaDocument",
    document: {
      _: "document",
      id: idOf(file.messengerFile),
      accessHash: Long.ONE,
      fileReference: Buffer.from(file.messengerFile),
      date: 0,
      mimeType: file.mimeType,
      size: file.bytes,
      dcId: placeOf(file.messengerFile).named,
      attributes: file.name === null ? [] : [{ _: "documentAttributeFilename", fileName: file.name }]
    }
  }

/** Authorizations that a client takes to another data centre, by the bytes that stand for them. */
const exported = new Map<string, object>()

export const handlers = (
  clients: Clients,
  here: number,
  read: (key: Key, name: string, from: number) => Promise<Stream.Stream<Uint8Array, unknown>>
): Handlers => ({
  "upload.getFile": async (key, { limit, location, offset }) => {
    if (kept(key).ref === undefined) return refuse(401, "AUTH_KEY_UNREGISTERED")
    const name = Buffer.from(location.fileReference).toString()
    const { home } = placeOf(name)
    if (home !== here) return refuse(303, `FILE_MIGRATE_${home}`)
    const content = await read(key, name, Number(offset))
    const parts = await clients.ask(Stream.runCollect(content))
    const bytes = Buffer.concat([...parts]).subarray(0, limit)
    return { _: "upload.file", type: { _: "storage.fileUnknown" }, mtime: 0, bytes }
  },
  "auth.exportAuthorization": async (key) => {
    const { ref, userId } = kept(key)
    if (ref === undefined) return refuse(401, "AUTH_KEY_UNREGISTERED")
    const bytes = crypto.randomBytes(16)
    exported.set(bytes.toString("hex"), { ref, userId })
    return { _: "auth.exportedAuthorization", id: Long.fromNumber(Number(userId)), bytes }
  },
  "auth.importAuthorization": async (key, { bytes, id }) => {
    const token = Buffer.from(bytes).toString("hex")
    const found = exported.get(token)
    if (found === undefined) return refuse(400, "AUTH_BYTES_INVALID")
    exported.delete(token)
    Object.assign(key.of, found)
    return { _: "auth.authorization", user: { _: "user", self: true, id: id.toNumber(), accessHash: Long.ONE } }
  }
})
