import { describe, expect, layer } from "@effect/vitest"
import { Effect, Layer, Option, Redacted } from "effect"
import { TestClock } from "effect/testing"
import * as BridgeArchive from "../../src/cli/bridge/BridgeArchive.ts"
import * as BridgedTools from "../../src/cli/bridge/BridgedTools.ts"
import * as BridgeMessages from "../../src/cli/bridge/BridgeMessages.ts"
import { BridgeService } from "../../src/cli/bridge/BridgeService.ts"
import { AccountId } from "../../src/domain/accounts/Account.ts"
import type * as Stdio from "../../src/mcp/Stdio.ts"
import { changeArchivePassword } from "../support/archive/archiveKeys.ts"
import { archivePassword } from "../support/archive/archivePassword.ts"
import { remoteArchive } from "../support/archive/remote.ts"
import { archivedIds, fileContent, sealChats } from "../support/archive/sealedChats.ts"
import { postgres } from "../support/postgres/database.ts"
import * as World from "../support/world.ts"

const [chat] = archivedIds.chat
const later = "a later archive password"

/** An archived account, and the bridge's tools by a password. */
const stage = Effect.fnUntraced(function*(password: string | undefined) {
  yield* TestClock.setTime(Date.UTC(2026, 2, 2, 12))
  const { admins, id } = yield* World.makeOrganization()
  const account = yield* World.makeAccount(id)
  const [file = ""] = yield* sealChats(id, account, "harbour")
  const remote = yield* remoteArchive(admins.owner.key)
  const services = yield* Layer.build(
    BridgeArchive.layer(Option.map(Option.fromUndefinedOr(password), (text) => Redacted.make(text))).pipe(
      Layer.provideMerge(remote.layer),
      Layer.provideMerge(
        Layer.succeed(BridgeService, {
          accounts: Effect.succeed([AccountId.make(account)]),
          sealedFile: (fileId) => Effect.orDie(remote.sealedFile(fileId))
        })
      )
    )
  )
  const call = (name: string, input: object) =>
    Effect.map(
      Effect.provideContext(BridgedTools.call(BridgedTools.tools.get(name)!, input), services),
      ({ structured, text }) => {
        const body = JSON.parse(structured ?? text)
        return structured === undefined ? `${body.error.code} ${body.error.param ?? ""}`.trim() : body
      }
    )
  const download = (input: object) =>
    Effect.provideContext(BridgedTools.call(BridgedTools.tools.get("download_file")!, input), services)
  return { account, call, download, file, id, sent: remote.sent }
})

describe("tools of the bridge", () => {
  layer(World.world(postgres))((it) => {
    it.effect("refuse a password that is missing or wrong, after the input and before the account", () =>
      Effect.gen(function*() {
        const none = "019bc0e2-0000-7000-8000-000000000000"
        const given = [[undefined, "archive_password_required"], [
          "another password",
          "archive_password_invalid"
        ]] as const
        for (const [password, code] of given) {
          const { account, call } = yield* stage(password)
          expect(yield* call("list_chats", { account_id: account })).toBe(code)
          expect(yield* call("list_chats", { account_id: none })).toBe(code)
          expect(yield* call("list_chats", { account_id: account, limit: 0 })).toBe("parameter_invalid limit")
        }
        const { account, call } = yield* stage(archivePassword)
        expect(yield* call("list_chats", { account_id: none })).toBe("resource_missing account_id")
        const named = { account_id: account, chat_id: "99" }
        for (const name of ["get_chat", "list_messages", "list_chat_members"]) {
          expect([name, yield* call(name, named)]).toEqual([name, "resource_missing chat_id"])
        }
        expect(yield* call("get_message", { ...named, chat_id: chat, message_id: "99" }))
          .toBe("resource_missing message_id")
        expect(yield* call("search_messages", { query: "harbour", account_ids: [none] }))
          .toBe("resource_missing account_ids")
        expect(yield* call("search_messages", { query: "\"\"" })).toBe("parameter_invalid query")
      }).pipe(Effect.scoped))

    it.effect("a changed password is noticed within half a minute, and the old one opens nothing from then on", () =>
      Effect.gen(function*() {
        const { account, call, id } = yield* stage(archivePassword)
        const read = call("list_messages", { account_id: account, chat_id: chat })
        expect((yield* read).data).toHaveLength(2)
        yield* changeArchivePassword(id, later)
        yield* TestClock.adjust("31 seconds")
        expect(yield* read).toBe("archive_password_invalid")
      }).pipe(Effect.scoped))

    it.effect("open a file of a message here, and say what the service would of one that is missing, not saved, too large or changed", () =>
      Effect.gen(function*() {
        const { account, call, download, file, id, sent } = yield* stage(archivePassword)
        const shown = yield* call("get_file", { file_id: file })
        expect(shown).toMatchObject({ object: "file", id: file, name: "harbour.txt", mime_type: "text/plain" })
        const listed = yield* call("list_files", { account_id: account, limit: 1 })
        expect(listed).toMatchObject({ has_more: true, unreadable: 0, data: [{ name: "harbour.txt" }] })
        const rest = yield* call("list_files", { account_id: account, starting_after: listed.next_id })
        expect([...listed.data, ...rest.data].find(({ id }) => id === file)).toMatchObject({ name: shown.name })
        const { resource, structured } = yield* download({ file_id: file })
        expect(Buffer.from(resource!.blob, "base64").toString()).toBe(fileContent)
        expect(resource!.uri).toBe(`org-security-console:/v1/archive/files/${file}/content`)
        expect(JSON.parse(structured!)).toMatchObject({ object: "content", media_type: "text/plain", size: 7 })
        const codeOf = (input: object) => Effect.map(download(input), ({ text }) => JSON.parse(text).error.code)
        expect(yield* codeOf({ file_id: account })).toBe("resource_missing")
        expect(yield* call("get_file", { file_id: account })).toBe("resource_missing file_id")
        const set = (change: Record<string, unknown>) =>
          World.query<object>(
            id,
            (sql) =>
              sql`update archive_blob set ${sql.update(change)} where organization_id = ${id} and blob_id =
              (select blob_id from archive_file where organization_id = ${id} and file_id = ${file}::uuid)`
          )
        const before = sent.length
        yield* set({ plain_bytes: 8 * 1024 * 1024 + 1 })
        expect(yield* codeOf({ file_id: file })).toBe("file_too_large")
        expect(sent.slice(before).map(({ operation }) => operation)).not.toContain("download_sealed_file")
        // The sizes of a stored content decide which chunk is the last: with another one it does not open.
        yield* set({ plain_bytes: 6 })
        expect(yield* codeOf({ file_id: file })).toBe("content_unreadable")
        yield* World.query<object>(
          id,
          (sql) => sql`update archive_file set state = 'failed', blob_id = null where organization_id = ${id}`
        )
        expect(yield* codeOf({ file_id: file })).toBe("file_not_saved")
      }).pipe(Effect.scoped))

    it.effect("take a request of the service for a list, and few for a search", () =>
      Effect.gen(function*() {
        const { account, call, sent } = yield* stage(archivePassword)
        const input = { account_id: account, chat_id: chat }
        yield* call("list_messages", input)
        const opening = sent.length
        yield* call("list_messages", input)
        expect(sent.length - opening).toBe(1)
        const before = sent.length
        expect((yield* call("search_messages", { query: "harbour edited" })).data).toHaveLength(2)
        expect(sent.length - before).toBeLessThanOrEqual(8)
      }).pipe(Effect.scoped))

    it.effect("a client's messages go on to the service without the archive password, and its tools without the sealed ones and those that only the service could answer with it", () =>
      Effect.gen(function*() {
        const forwarded: Array<string> = []
        const ask: Stdio.Ask = (_, body) => {
          forwarded.push(body)
          const tools = ["get_organization", "list_sealed_pages", "list_chats", "download_archive_export_part"]
            .map((name) => ({ name }))
          const answer = { jsonrpc: "2.0", id: 1, result: { tools } }
          return Effect.succeed({ status: 200, contentType: "application/json", text: JSON.stringify(answer) })
        }
        const here: BridgeMessages.CallHere = (name) =>
          name === "list_chats" ? Effect.succeed({ text: "here", structured: "{}" }) : undefined
        const bridged = BridgeMessages.bridged(ask, here)
        const call = (name: string, id: number) => ({
          jsonrpc: "2.0",
          id,
          method: "tools/call",
          params: { name, arguments: {}, _meta: { archive_password: archivePassword, progressToken: 1 } }
        })
        yield* bridged({}, JSON.stringify(call("get_organization", 1)))
        expect(JSON.parse(forwarded[0]!).params._meta).toEqual({ progressToken: 1 })
        const listed = yield* bridged({}, JSON.stringify({ jsonrpc: "2.0", id: 1, method: "tools/list" }))
        expect(JSON.parse(listed.text).result.tools)
          .toEqual([{ name: "get_organization" }, { name: "list_chats" }])
        const both = yield* bridged({}, JSON.stringify([call("list_chats", 7), call("get_organization", 1)]))
        expect(JSON.parse(both.text).map(({ id }: { id: number }) => id)).toEqual([7, 1])
        expect(forwarded).toHaveLength(3)
      }))
  })
})
