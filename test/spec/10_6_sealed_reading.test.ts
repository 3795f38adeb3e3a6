import { describe, expect, layer } from "@effect/vitest"
import { Effect, Redacted, Stream } from "effect"
import { TestClock } from "effect/testing"
import { toBase64 } from "../../src/domain/archive/Bytes.ts"
import { encodeIds } from "../../src/domain/archive/MessageIds.ts"
import type { Content } from "../../src/domain/Content.ts"
import type { Failure } from "../../src/domain/Failure.ts"
import { Caller } from "../../src/domain/people/Access.ts"
import type * as Operation from "../../src/kernel/Operation.ts"
import { downloadSealedFile } from "../../src/operations/archive/download_sealed_file.ts"
import { getArchiveKeys } from "../../src/operations/archive/get_archive_keys.ts"
import { listSealedBlocks } from "../../src/operations/archive/list_sealed_blocks.ts"
import { listSealedFiles } from "../../src/operations/archive/list_sealed_files.ts"
import { listSealedPages } from "../../src/operations/archive/list_sealed_pages.ts"
import { Credentials } from "../../src/ports/credentials/Credentials.ts"
import * as Mcp from "../mcp/support.ts"
import { archivedIds, fileContent, sealChats } from "../support/archive/sealedChats.ts"
import { type JsonSchema, violations } from "../support/http/documented.ts"
import { postgres } from "../support/postgres/database.ts"
import * as World from "../support/world.ts"

const all: ReadonlyArray<Operation.Any> = [
  getArchiveKeys,
  listSealedPages,
  listSealedBlocks,
  listSealedFiles,
  downloadSealedFile
]
const [chat] = archivedIds.chat
const [message] = archivedIds.message
const noon = Date.UTC(2026, 2, 2, 12)
const below = new Date(noon).toISOString()
const text = "harbour lantern"

const day = new Date(noon - 2 * 24 * 60 * 60 * 1000).toISOString().slice(0, 10)

const stage = Effect.fnUntraced(function*() {
  yield* TestClock.setTime(noon)
  const { admins, id } = yield* World.makeOrganization()
  const account = yield* World.makeAccount(id)
  const [file = "", other = ""] = yield* sealChats(id, account, text)
  return { account, admins, file, id, other }
})

type How = Partial<Pick<Caller["Service"], "limit" | "readsArchive" | "scopes" | "via">>

const local: How = {
  limit: { scopeType: "all", connectionId: "019bc0e2-0000-7000-8000-000000000001", local: true },
  via: "mcp"
}
const viewer: How = { via: "console" }

/** The answer to a caller who opens the archive, as it is on the wire; or the code and the parameter of its refusal. */
const call = Effect.fnUntraced(function*(
  operation: Operation.Any,
  input: object,
  key: Redacted.Redacted | string,
  how: How
) {
  const token = typeof key === "string" ? Redacted.make(key) : key
  const known = yield* (yield* Credentials).authenticate(token, `${World.baseUrl}/v1`)
  const caller = Caller.of({ ...known, via: "embedded", ip: null, requestId: null, ...how })
  return yield* Effect.provideService(
    operation.respond(input) as Effect.Effect<{ readonly text: string; readonly content?: Content }, Failure, any>,
    Caller,
    caller
  ).pipe(
    Effect.match({
      onSuccess: ({ content, text }): any => content ?? JSON.parse(text),
      onFailure: ({ _tag, param }) => ({ code: _tag, param })
    })
  )
})

/** A request of each operation that answers JSON about the account, one of each of its parts. */
const requests = (account: string): ReadonlyArray<readonly [Operation.Any, Record<string, unknown>]> => [
  ...[
    { list: { account_id: account, limit: 8 } },
    { messages: { account_id: account, messages: [{ chat_id: chat, day, message_id: message }], skip: 0 } },
    { files: [account] },
    {}
  ].map((part) => [listSealedFiles, part] as const),
  [getArchiveKeys, {}],
  ...[
    { messages: { chat_id: chat, direction: "older", enough: 100, limit: 8 } },
    { states: { chat_id: chat, message_ids: [message] } },
    { edits: { chat_id: chat, message_id: message, skip: 0 } },
    { chats: { limit: 10 } },
    { chat },
    { known_chats: [chat] },
    { named_chats: [chat, "404"] },
    { epochs: ["1"] }
  ].map((part) => [listSealedPages, { account_id: account, ...part }] as const),
  ...[
    { blocks: { below, limit: 8 } },
    { loose: { below, limit: 100 } },
    { pages: { below, candidates: [{ account_id: account, numbers: "AQ==" }] } },
    { sealed: [{ account_id: account, number: "1" }] },
    { message: { account_id: account, chat_id: chat, message_id: message } },
    {}
  ].map((part) => [listSealedBlocks, part] as const)
]

describe("10.6 sealed data", () => {
  layer(World.world(postgres))((it) => {
    it.effect("is answered to a connection that opens the archive on its user's machine and to the console, and to no other credential by any transport", () =>
      Effect.gen(function*() {
        const { account, admins } = yield* stage()
        const { key } = admins.owner
        for (const [operation, input] of requests(account)) {
          const refused = { code: "local_mode_required", param: undefined }
          expect([operation.id, yield* call(operation, input, key, { via: "embedded" })]).toEqual([
            operation.id,
            refused
          ])
          const cloud = { limit: { scopeType: "all" as const, connectionId: "019bc0e2-0000-7000-8000-000000000001" } }
          expect(yield* call(operation, input, key, cloud)).toEqual(refused)
          const { account_id, ...body } = input
          const path = operation.path.replace(":account_id", String(account_id))
          const sent = yield* World.send(operation.method, path, {
            key,
            ...(operation.method === "GET" ? {} : { body })
          })
          expect([operation.id, sent.status, sent.body.error.code]).toEqual([operation.id, 403, "local_mode_required"])
          expect(Mcp.resultOf(yield* Mcp.call(operation.id, input, { key })).body.error.code).toBe(
            "local_mode_required"
          )
          const { outputSchema } = Mcp.tools.all().find(([{ id }]) => id === operation.id)![1]
          for (const how of [local, viewer]) {
            const answer = yield* call(operation, input, key, how)
            expect([operation.id, violations(outputSchema as JsonSchema, answer)]).toEqual([operation.id, []])
          }
        }
        expect(yield* Mcp.list({ key, path: "/mcp?toolsets=all" })).not.toContain(getArchiveKeys.id)
      }))

    it.effect("holds no word of what is archived, and everything that its reader needs", () =>
      Effect.gen(function*() {
        const { account, admins, id } = yield* stage()
        const { key } = admins.owner
        const ask = (operation: Operation.Any, input: object) => call(operation, input, key, local)
        for (const [operation, input] of requests(account)) {
          const said = JSON.stringify(yield* ask(operation, input))
          expect([operation.id, /harbour|lantern|sender/.test(said)]).toEqual([operation.id, false])
        }
        const keys = yield* ask(getArchiveKeys, {})
        expect([keys.organization_id, keys.keys.length, keys.keys[0].key_id]).toEqual([id, 1, keys.current_key_id])
        const window = { chat_id: chat, direction: "older", enough: 1000, limit: 8 }
        const pages = yield* ask(listSealedPages, { account_id: account, messages: window })
        expect([pages.messages.length, pages.stated, pages.has_more]).toEqual([1, 1, false])
        expect(pages.states).toMatchObject([{ message_id: message, newest: pages.frames[0].number }])
        expect(pages.epochs).toMatchObject([{ account_id: account, key_id: keys.current_key_id }])
        const chats = yield* ask(listSealedPages, { account_id: account, chats: { limit: 10 } })
        expect(chats.chats.map((one: { chat_id: string }) => one.chat_id)).toEqual(archivedIds.chat)
        const named = yield* ask(listSealedPages, { account_id: account, named_chats: [chat, "404"] })
        expect(named.chats).toEqual(chats.chats.filter((one: { chat_id: string }) => one.chat_id === chat))
        const loose = yield* ask(listSealedBlocks, { loose: { below, limit: 100 } })
        expect(new Set(loose.pages.map((one: { kind: string }) => one.kind))).toEqual(new Set(["messages", "changes"]))
        const names = loose.pages.map((one: { number: string }) => ({ account_id: account, number: one.number }))
        const sealed = yield* ask(listSealedBlocks, { sealed: names })
        expect([sealed.pages.length, sealed.stated]).toEqual([names.length, names.length])
        expect(sealed.pages.every((one: { sealed: string | null }) => one.sealed !== null)).toBe(true)
      }))

    it.effect("is refused by scope, role, input, access and state, in this order", () =>
      Effect.gen(function*() {
        const { account, admins, id } = yield* stage()
        const other = yield* stage()
        const { key } = admins.owner
        const window = { chat_id: chat, direction: "older", enough: 1000, limit: 8 }
        const pages = (input: object, how = local) => call(listSealedPages, input, key, how)
        const codes = (input: object, how?: How) => Effect.map(pages(input, how), ({ code, param }) => [code, param])
        const both = { account_id: account, messages: window, chat }
        expect(yield* codes({ account_id: other.account, messages: { ...window, limit: 65 } }, { via: "embedded" }))
          .toEqual(["parameter_invalid", "messages"])
        expect(yield* codes({ account_id: other.account, messages: window }, { via: "embedded" }))
          .toEqual(["local_mode_required", undefined])
        expect(yield* codes(both)).toEqual(["parameter_invalid", "chat"])
        for (const missing of [other.account, "019bc0e2-0000-7000-8000-000000000009"]) {
          expect(yield* codes({ account_id: missing, messages: window })).toEqual(["resource_missing", "account_id"])
          for (
            const input of [
              { account_ids: [missing], loose: { below, limit: 1 } },
              { account_ids: [account, missing] },
              { sealed: [{ account_id: missing, number: "1" }] },
              { message: { account_id: missing, chat_id: chat, message_id: message } },
              { pages: { below, candidates: [{ account_id: missing, numbers: "AQ==" }] } }
            ]
          ) {
            const { code, param } = yield* call(listSealedBlocks, input, key, local)
            expect([code, param]).toEqual(["resource_missing", "account_ids"])
          }
        }
        // An account that is named in a part has to be of the request's own accounts too.
        const further = yield* World.makeAccount(id)
        const [{ number }] = (yield* call(listSealedBlocks, { loose: { below, limit: 1 } }, key, local)).pages
        const numbers = toBase64(encodeIds([BigInt(number)]))
        for (
          const part of [
            { sealed: [{ account_id: account, number }] },
            { message: { account_id: account, chat_id: chat, message_id: message } },
            { pages: { below, candidates: [{ account_id: account, numbers }] } }
          ]
        ) {
          expect((yield* call(listSealedBlocks, { account_ids: [account], ...part }, key, local)).pages).toHaveLength(1)
          expect((yield* call(listSealedBlocks, { account_ids: [further], ...part }, key, local)).pages).toEqual([])
        }
        for (const wrong of ["gA==", "A!", toBase64(encodeIds([2n ** 63n])), toBase64(new Uint8Array(513).fill(1))]) {
          const { code, param } = yield* call(
            listSealedBlocks,
            { pages: { below, candidates: [{ account_id: account, numbers: wrong }] } },
            key,
            local
          )
          expect([wrong, code, param]).toEqual([wrong, "parameter_invalid", "pages"])
        }
        for (const operation of all) {
          const path = operation.path.replace(":account_id", account).replace(":file_id", account)
          const { body } = yield* World.send(operation.method, path, { key: admins.billing.key })
          expect([operation.id, body.error.code]).toEqual([operation.id, "role_forbidden"])
        }
        yield* World.set(id, "organization", id, { archive_deletion_started_at: new Date(noon) })
        expect(yield* codes({ account_id: account, messages: window })).toEqual(["archive_closed", undefined])
      }))

    it.effect("is counted as read, by the messages and files in it", () =>
      Effect.gen(function*() {
        const other = yield* stage()
        yield* call(downloadSealedFile, { file_id: other.file }, other.admins.owner.key, local)
        const files = yield* World.query<{ files: number }>(other.id, (sql) =>
          sql`select files::integer as files from archive_read where organization_id = ${other.id}`)
        expect(files).toEqual([{ files: 1 }])
        const { account, admins, id } = yield* stage()
        const { key } = admins.owner
        const window = { chat_id: chat, direction: "older", enough: 1000, limit: 8 }
        yield* call(listSealedPages, { account_id: account, messages: window }, key, local)
        const counted = yield* World.query<{ account_id: string; messages: number }>(id, (sql) =>
          sql`select account_id, messages::integer as messages from archive_read where organization_id = ${id}`)
        expect(counted).toEqual([{ account_id: account, messages: archivedIds.message.length }])
      }))

    it.effect("has of files their sealed keys, the pages with their names, and whole or in part their objects", () =>
      Effect.gen(function*() {
        const { account, admins, file, id, other } = yield* stage()
        const { key } = admins.owner
        const ask = (input: object) => call(listSealedFiles, input, key, local)
        const listed = yield* ask({ list: { account_id: account, limit: 8 } })
        expect(listed.files.map((one: { file: string }) => one.file).toSorted()).toEqual([file, other].toSorted())
        const first = yield* ask({ list: { account_id: account, limit: 1 } })
        const second = yield* ask({ list: { account_id: account, limit: 1, after: first.files[0].file } })
        expect([...first.files, ...second.files]).toEqual(listed.files)
        expect((yield* ask({ list: { account_id: account, limit: 1, after: account } })).files).toBe(null)
        const named = yield* ask({ files: [file] })
        const [found] = named.files
        expect(found).toEqual(listed.files.find((one: { file: string }) => one.file === file))
        expect(found).toMatchObject({ account_id: account, chat_id: chat, day, state: "saved" })
        expect(named.epochs).toMatchObject([{ account_id: account, epoch_id: found.content.epoch_id }])
        const places = listed.files.map((one: { chat_id: string; day: string; message_id: string }) => ({
          chat_id: one.chat_id,
          day: one.day,
          message_id: one.message_id
        }))
        const pages = (skip: number) => ask({ messages: { account_id: account, messages: places, skip } })
        const whole = (yield* pages(0)).pages
        expect(whole.map((one: { chat_id: string }) => one.chat_id).toSorted()).toEqual(archivedIds.chat)
        expect((yield* pages(1)).pages).toEqual(whole.slice(1))

        const content: Content = yield* call(downloadSealedFile, { file_id: file }, key, local)
        const sealed = yield* Stream.mkUint8Array(content.bytes())
        expect([content.size, sealed.length, content.file_name]).toEqual([
          fileContent.length + 16,
          fileContent.length + 16,
          `${file}.sealed`
        ])
        expect(Buffer.from(sealed).toString("latin1")).not.toContain(fileContent)
        expect(yield* Stream.mkUint8Array(content.bytes({ start: 2, end: 9 }))).toEqual(sealed.slice(2, 9))
        const code = (input: object, how?: How) =>
          Effect.map(call(downloadSealedFile, input, key, how ?? local), ({ code, param }) => [code, param])
        expect(yield* code({ file_id: file }, { via: "embedded" })).toEqual(["local_mode_required", undefined])
        const foreign = (yield* stage()).file
        for (const missing of [foreign, "019bc0e2-0000-7000-8000-000000000009"]) {
          expect(yield* code({ file_id: missing })).toEqual(["resource_missing", "file_id"])
          expect((yield* ask({ files: [missing, file] })).files).toEqual(named.files)
        }
        expect(yield* ask({ list: { account_id: foreign, limit: 1 } }))
          .toEqual({ code: "resource_missing", param: "account_id" })
        expect(yield* ask({ messages: { account_id: foreign, messages: places, skip: 0 } }))
          .toEqual({ code: "resource_missing", param: "account_id" })
        yield* World.query<object>(
          id,
          (sql) =>
            sql`update archive_file set state = 'deleted', blob_id = null where organization_id = ${id} and file_id = ${file}::uuid`
        )
        expect(yield* code({ file_id: file })).toEqual(["file_not_saved", undefined])
        expect((yield* ask({ files: [file] })).files).toMatchObject([{ state: "deleted", content: null }])
      }))
  })
})
