/** An archive with saved files under the tests' password, and requests for exports of it. */
import { Effect, Redacted } from "effect"
import { TestClock } from "effect/testing"
import * as crypto from "node:crypto"
import { ArchiveWriter } from "../../../src/ports/archive/ArchiveWriter.ts"
import * as World from "../world.ts"
import { setArchiveKey } from "./archiveKeys.ts"
import { passwordHeader } from "./archivePassword.ts"
import * as Archives from "./archives.ts"
import { inParts, objectOf } from "./blobLaws.ts"
import { keyOf } from "./deletions.ts"

const { beginning, chat, chatId, commit, file, seen } = Archives

/** The contents of the archived files, by their places: one of three chunks, and two of one. */
export const contents = [objectOf(150_000), objectOf(7), objectOf(900)] as const

/** An account with a message for each file, all of one day. */
export const makeExported = Effect.gen(function*() {
  yield* TestClock.setTime(beginning)
  const { admins, id } = yield* World.makeOrganization({ archive_key_set: false })
  yield* setArchiveKey(id)
  const accountId = yield* World.makeAccount(id, { facts: { offboarded_at: new Date(0) } })
  const account = { organizationId: id, accountId }
  const writer = yield* (yield* ArchiveWriter).own(account, yield* keyOf(id), crypto.randomUUID())
  const files = contents.map((content, place) => ({ ...file(`plan ${place}.png`), bytes: content.length }))
  const messages = files.map((each, place) => seen(place + 1, 100 - place, `text ${place}`, { files: [each] }))
  yield* commit({ account }, writer.see(chat))
  yield* commit({ account }, writer.append(chatId, messages, "sweep"))
  for (const [place, bytes] of contents.entries()) {
    const fileId = files[place]?.id ?? ""
    yield* writer.storeFile(fileId, { messengerFile: fileId, bytes: bytes.length, content: inParts(bytes) })
  }
  const { key } = admins.owner
  const create = (format: string, more: object = {}) =>
    World.send("POST", "/v1/archive/exports", {
      key,
      body: { criteria: { account_ids: [accountId] }, format, ...more }
    })
  return { accountId, admins, create, files, id, key }
})

/** Asks for a part as a client over HTTP does. */
export const download = Effect.fnUntraced(
  function*(key: Redacted.Redacted, exportId: string, number = "1", headers = passwordHeader()) {
    const handler = yield* World.handlerHere
    const host = new URL(World.baseUrl).host
    const authorization = `Bearer ${Redacted.value(key)}`
    return yield* Effect.promise(async () => {
      const response = await handler(
        new Request(`http://${host}/v1/archive/exports/${exportId}/parts/${number}`, {
          headers: { host, authorization, ...headers }
        })
      )
      const bytes = Buffer.from(await response.arrayBuffer())
      return { bytes, headers: response.headers, status: response.status }
    })
  }
)

/** The code of the failure that was answered instead of a part. */
export const codeOf = ({ bytes, status }: { readonly bytes: Buffer; readonly status: number }) => [
  status,
  JSON.parse(bytes.toString()).error.code
]
