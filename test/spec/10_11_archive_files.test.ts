import { describe, expect, layer } from "@effect/vitest"
import { Effect, Redacted } from "effect"
import * as crypto from "node:crypto"
import { Caller } from "../../src/domain/people/Access.ts"
import { api } from "../../src/operations/index.ts"
import { Credentials } from "../../src/ports/credentials/Credentials.ts"
import { archivePassword, passwordHeader } from "../support/archive/archivePassword.ts"
import { archivedIds, fileContent, sealChats } from "../support/archive/sealedChats.ts"
import { postgres } from "../support/postgres/database.ts"
import * as World from "../support/world.ts"

const stage = Effect.gen(function*() {
  const { admins, id } = yield* World.makeOrganization({ archive_first_record_at: new Date(0) })
  const account = yield* World.makeAccount(id)
  const [file = "", other = ""] = yield* sealChats(id, account, "Harbour")
  const key = admins.owner.key
  const files = (query = "") => World.get(`/v1/archive/accounts/${account}/files${query}`, key)
  return { account, file, files, id, key, other }
})

/** The answer to a download, with its bytes as text. */
const download = Effect.fnUntraced(
  function*(file: string, key: Redacted.Redacted, headers: Record<string, string> = {}) {
    const handler = yield* World.handlerHere
    const request = new Request(`${World.baseUrl}/v1/archive/files/${file}/content`, {
      headers: {
        host: new URL(World.baseUrl).host,
        authorization: `Bearer ${Redacted.value(key)}`,
        ...passwordHeader(),
        ...headers
      }
    })
    const response = yield* Effect.promise(() => handler(request))
    const text = yield* Effect.promise(() => response.text())
    return { status: response.status, headers: Object.fromEntries(response.headers), text }
  }
)

/** The status and code of a refused request. */
const refusal = ({ status, text }: Effect.Success<ReturnType<typeof download>>) => [status, JSON.parse(text).error.code]

describe("10.11 files of archived messages", () => {
  layer(World.world(postgres))((it) => {
    it.effect("are listed with the names that their messages have, page by page, by chat and by state", () =>
      Effect.gen(function*() {
        const { account, file, files, key, other } = yield* stage
        const [chat] = archivedIds.chat
        const { body } = yield* files()
        expect(body).toMatchObject({ has_more: false, next_id: null, unreadable: 0 })
        expect(body.data.map(({ id }: { id: string }) => id).toSorted()).toEqual([file, other].toSorted())
        const one = (yield* files(`?chat_id=${chat}`)).body.data
        expect(one).toEqual([expect.objectContaining({
          id: file,
          account_id: account,
          chat_id: chat,
          message_id: archivedIds.message[1],
          name: "Harbour.txt",
          mime_type: "text/plain",
          bytes: fileContent.length,
          sha256: crypto.createHash("sha256").update(fileContent).digest("hex"),
          state: "saved"
        })])
        expect((yield* World.get(`/v1/archive/files/${file}`, key)).body).toMatchObject(one[0])
        const first = (yield* files("?limit=1")).body
        expect(first).toMatchObject({ has_more: true, next_id: first.data[0].id })
        const second = (yield* files(`?limit=1&starting_after=${first.next_id}`)).body
        expect([...first.data, ...second.data]).toEqual(body.data)
        expect(second.has_more).toBe(false)
        expect((yield* files("?state=pending")).body).toMatchObject({ data: [], has_more: false })
        expect((yield* files("?kind=photo")).body).toMatchObject({ data: [], has_more: false })
      }))

    it.effect("are downloaded whole and in parts, as they were stored, and each download is counted", () =>
      Effect.gen(function*() {
        const { account, file, id, key } = yield* stage
        const whole = yield* download(file, key)
        expect([whole.status, whole.text]).toEqual([200, fileContent])
        expect(whole.headers).toMatchObject({
          "content-type": "text/plain",
          "content-length": String(fileContent.length),
          "content-disposition": "attachment; filename=\"Harbour.txt\"",
          "accept-ranges": "bytes"
        })
        const counts = yield* World.query<object>(
          id,
          (sql) =>
            sql`select messages, searches, files from archive_read where organization_id = ${id} and account_id = ${account}`
        )
        expect(counts).toEqual([{ messages: 0, searches: 0, files: 1 }])
        const part = yield* download(file, key, { range: "bytes=3-5" })
        expect([part.status, part.text]).toEqual([206, fileContent.slice(3, 6)])
        expect(part.headers).toMatchObject({
          "content-range": `bytes 3-5/${fileContent.length}`,
          etag: whole.headers["etag"]
        })
        expect(refusal(yield* download(file, key, { range: "bytes=7-" }))).toEqual([416, "range_not_satisfiable"])
      }))

    it.effect("S5.3-04: are not there for a reader without access to their account, as those that do not exist", () =>
      Effect.gen(function*() {
        const { account, file, id, key } = yield* stage
        const reader = yield* World.makePerson(id, "archive")
        const foreign = (yield* stage).file
        const answers = (by: Redacted.Redacted, one: string) =>
          Effect.map(
            Effect.all([download(one, by), World.get(`/v1/archive/files/${one}`, by)]),
            ([content, shown]) =>
              [JSON.parse(content.text).error, shown.body.error].map((error) => ({
                ...error,
                request_id: null
              }))
          )
        const missing = yield* answers(reader.key, crypto.randomUUID())
        expect(missing).toEqual([
          expect.objectContaining({ code: "resource_missing", param: "file_id" }),
          expect.objectContaining({ code: "resource_missing", param: "file_id" })
        ])
        expect(yield* answers(reader.key, file)).toEqual(missing)
        expect(yield* answers(key, foreign)).toEqual(missing)
        yield* World.grant(id, reader.id, { accounts: [account] })
        expect((yield* download(file, reader.key)).text).toBe(fileContent)
      }))

    it.effect("are not downloaded where they are not saved, without the password, and by a connection of mode local", () =>
      Effect.gen(function*() {
        const { file, id, key } = yield* stage
        expect(refusal(yield* download(file, key, passwordHeader("another password"))))
          .toEqual([403, "archive_password_invalid"])
        const input = { file_id: file }
        const known = yield* (yield* Credentials).authenticate(key, `${World.baseUrl}/v1`)
        const caller = Caller.of({
          ...known,
          limit: { scopeType: "all", connectionId: "019bc0e2-0000-7000-8000-000000000001", local: true },
          via: "embedded",
          ip: null,
          requestId: null,
          extras: { archivePassword: Redacted.make(archivePassword) }
        })
        for (const call of [Effect.asVoid(api.download_file.call(input)), Effect.asVoid(api.get_file.call(input))]) {
          expect((yield* Effect.flip(Effect.provideService(call, Caller, caller)))._tag).toBe("bridge_required")
        }
        yield* World.query<object>(
          id,
          (sql) =>
            sql`update archive_file set state = 'deleted', blob_id = null where organization_id = ${id} and file_id = ${file}::uuid`
        )
        expect(refusal(yield* download(file, key))).toEqual([409, "file_not_saved"])
        expect((yield* World.get(`/v1/archive/files/${file}`, key)).body).toMatchObject({
          name: "Harbour.txt",
          state: "deleted",
          sha256: null,
          archived_at: null
        })
      }))
  })
})
