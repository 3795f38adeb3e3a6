import { describe, expect, layer } from "@effect/vitest"
import { Effect } from "effect"
import * as crypto from "node:crypto"
import { makeArchiveManifests } from "../../src/jobs/archive/make_archive_manifests.ts"
import { runArchiveCleanups } from "../../src/jobs/archive/run_archive_cleanups.ts"
import { ArchiveWriter } from "../../src/ports/archive/ArchiveWriter.ts"
import * as Archives from "../support/archive/archives.ts"
import { cleanUpAccount, makeHold, releaseHolds } from "../support/archive/cleanups.ts"
import { keyOf } from "../support/archive/deletions.ts"
import { codeOf, download, makeExported } from "../support/archive/exportedArchive.ts"
import { entriesOfZip } from "../support/archive/zips.ts"
import { dying } from "../support/crashing.ts"
import { postgres } from "../support/postgres/database.ts"
import * as World from "../support/world.ts"

const { chatId, seen } = Archives
const reason = "A card number"

type Exported = Effect.Success<typeof makeExported>

const chatOf = ({ accountId }: Pick<Exported, "accountId">) => `/v1/archive/accounts/${accountId}/chats/${chatId}`

const redact = (exported: Exported, ids: ReadonlyArray<string>, more: World.Asking = {}) =>
  World.send("POST", `${chatOf(exported)}/redactions`, {
    key: exported.key,
    body: { message_ids: ids, reason },
    ...more
  })

const messageOf = (exported: Exported, id: string) =>
  Effect.map(World.get(`${chatOf(exported)}/messages/${id}`, exported.key), ({ body }) => body)

const searched = ({ key }: Exported, query: string) =>
  Effect.map(
    World.send("POST", "/v1/archive/search", { key, body: { query } }),
    ({ body }) => body.data.map(({ id }: { id: string }) => id)
  )

const verified = ({ key }: Exported) =>
  Effect.map(World.send("POST", "/v1/archive/verify", { key, body: {} }), ({ body }) => body)

describe("10.6 redact_messages", () => {
  layer(World.world(postgres))((it) => {
    it.effect("a message that an owner redacts has no text and no file any more, for readers, searches, downloads and exports made before", () =>
      Effect.gen(function*() {
        const exported = yield* makeExported
        const made = yield* exported.create("json")
        expect(yield* searched(exported, "text")).toEqual(["3", "2", "1"])
        const { body, status } = yield* redact(exported, ["2"])
        expect([status, body]).toEqual([200, {
          object: "archive_redaction",
          account_id: exported.accountId,
          chat_id: String(chatId),
          message_ids: ["2"]
        }])
        const message = yield* messageOf(exported, "2")
        expect(message).toMatchObject({ text: null, files: [], from: { name: "Grace Hopper" } })
        expect(message.redacted_at).toBe(new Date(Archives.beginning).toISOString())
        expect(yield* messageOf(exported, "1")).toMatchObject({ text: "text 0", redacted_at: null })
        expect(yield* searched(exported, "text")).toEqual(["3", "1"])
        const content = `/v1/archive/files/${exported.files[1]?.id}/content`
        expect((yield* World.get(content, exported.key)).status).toBe(404)
        const entries = entriesOfZip((yield* download(exported.key, made.body.id)).bytes)
        const texts = entries.map(({ content, path }) => `${path} ${content.toString("latin1")}`).join("\n")
        expect(texts).toContain("text 0")
        expect(texts).toContain("redacted_at")
        for (const gone of ["text 1", "plan 1.png"]) expect(texts).not.toContain(gone)
        const [entry] = (yield* World.journal(exported.id)).filter(({ action }) => action === "archive.redacted")
        expect(entry).toMatchObject({
          account_id: exported.accountId,
          outcome: "done",
          details: { chat_id: String(chatId), message_ids: "2", messages: 1, files: 1, reason }
        })
        const again = yield* redact(exported, ["2"])
        expect([again.status, again.body]).toEqual([200, body])
        expect((yield* World.journal(exported.id)).filter(({ action }) => action === "archive.redacted").length).toBe(1)
      }))

    it.effect("another role, no password, a held day, a damaged page and ids that are not there are refused, and nothing changes", () =>
      Effect.gen(function*() {
        const exported = yield* makeExported
        const { accountId, admins, id } = exported
        const codes = (asking: Effect.Effect<World.Answer, any, any>) =>
          Effect.map(asking, ({ body, status }) => [status, body.error.code])
        expect(yield* codes(redact(exported, ["1"], { key: admins.admin.key }))).toEqual([403, "superadmin_required"])
        expect(yield* codes(redact(exported, ["1"], { password: false }))).toEqual([403, "archive_password_required"])
        expect(yield* codes(redact(exported, ["1", "77"]))).toEqual([404, "resource_missing"])
        expect(yield* codes(redact({ ...exported, accountId: crypto.randomUUID() as never }, ["1"])))
          .toEqual([404, "resource_missing"])
        const hundredAndOne = Array.from({ length: 101 }, (_, index) => String(index))
        for (const ids of [[], hundredAndOne, ["x"]]) {
          expect(yield* codes(redact(exported, ids))).toEqual([400, "parameter_invalid"])
        }
        const [page] = yield* World.query<{ sealed: Uint8Array; page: string }>(
          id,
          (sql) =>
            sql`select sealed, page_id::text as page from archive_page
              where organization_id = ${id} and kind = 'messages'`
        )
        const put = (sealed: Uint8Array) =>
          World.query<object>(
            id,
            (sql) =>
              sql`update archive_page set sealed = ${sealed}
                where organization_id = ${id} and page_id = ${page?.page ?? ""}::bigint`
          )
        const sealed = page?.sealed ?? new Uint8Array()
        const damaged = Uint8Array.from(sealed)
        damaged[damaged.length - 1] = (damaged.at(-1) ?? 0) ^ 1
        yield* put(damaged)
        expect(yield* codes(redact(exported, ["1"]))).toEqual([409, "content_unreadable"])
        yield* put(sealed)
        expect(yield* messageOf(exported, "1")).toMatchObject({ text: "text 0", redacted_at: null })
        // The messages are of 2 March.
        for (
          const [since, until, held] of [
            ["2026-03-03", null, false],
            [null, "2026-03-01", false],
            ["2026-03-02", "2026-03-02", true]
          ] as const
        ) {
          yield* makeHold(id, { accounts: [accountId], released: null, since, until })
          if (held) expect(yield* codes(redact(exported, ["1"]))).toEqual([409, "archive_held"])
          else expect((yield* redact(exported, ["1"])).status).toBe(200)
          yield* releaseHolds(id)
          if (held) expect(yield* messageOf(exported, "2")).toMatchObject({ text: "text 1", redacted_at: null })
        }
      }))

    it.effect("manifests still verify, a page that is taken out under the cover of a redaction is found, and an older cleanup deletes what was redacted meanwhile", () =>
      Effect.gen(function*() {
        const exported = yield* makeExported
        const { accountId, id, key } = exported
        yield* makeArchiveManifests.run
        const preview = yield* World.send("POST", "/v1/archive/cleanups", {
          key,
          body: { criteria: { account_ids: [accountId] }, stop_saving: false }
        })
        yield* redact(exported, ["2"])
        expect(yield* verified(exported)).toMatchObject({
          missing: 0,
          changed: 0,
          added: 0,
          unproven: 0,
          not_covered: 1
        })
        yield* World.send("POST", `/v1/archive/cleanups/${preview.body.id}/confirm`, {
          key,
          body: { confirm_phrase: preview.body.confirm_phrase }
        })
        yield* runArchiveCleanups.run
        expect((yield* World.get(`${chatOf(exported)}/messages`, key)).body.data).toEqual([])
        expect(yield* verified(exported)).toMatchObject({ missing: 0, changed: 0, added: 0, unproven: 0 })
        yield* World.query<object>(
          id,
          (sql) =>
            sql`insert into archive_gone (organization_id, account_id, page_id, leaf, cleanup_id)
              select organization_id, account_id, 1, leaf, cleanup_id from archive_gone
              where organization_id = ${id} order by page_id limit 1`
        )
        expect((yield* verified(exported)).unproven + (yield* verified(exported)).missing).toBeGreaterThan(0)
      }))

    it.effect("a redacted message is not archived again, not even once a cleanup has deleted it", () =>
      Effect.gen(function*() {
        const exported = yield* makeExported
        const { accountId, id, key } = exported
        yield* redact(exported, ["2"])
        yield* cleanUpAccount(key, accountId)
        const account = { organizationId: id, accountId }
        const writer = yield* (yield* ArchiveWriter).own(account, yield* keyOf(id), crypto.randomUUID())
        yield* Archives.commit(
          { account },
          writer.append(chatId, [seen(1, 100, "text 0"), seen(2, 99, "text 1")], "live")
        )
        const listed: ReadonlyArray<{ readonly id: string }> =
          (yield* World.get(`${chatOf(exported)}/messages`, key)).body.data
        expect(listed.map((message) => message.id)).toEqual(["1"])
      }))

    it.effect("a process that dies at any moment leaves a message whole or redacted, never half", () =>
      Effect.gen(function*() {
        const exported = yield* makeExported
        const writer = yield* (yield* ArchiveWriter).own(
          { organizationId: exported.id, accountId: exported.accountId },
          yield* keyOf(exported.id),
          crypto.randomUUID()
        )
        const account = { organizationId: exported.id, accountId: exported.accountId }
        const edit = seen(2, 99, "text edited", { edited_at: 1_800_000_000 })
        yield* Archives.commit({ account }, writer.append(chatId, [edit], "live"))
        const whole = yield* messageOf(exported, "2")
        expect(whole).toMatchObject({ text: "text edited", edits: 1 })
        let calls = 0
        while (!(yield* dying(calls, redact(exported, ["2"])))) {
          const now = yield* messageOf(exported, "2")
          if (now.redacted_at === null) expect(now).toEqual(whole)
          else expect(now).toMatchObject({ text: null, files: [], edits: 1 })
          calls++
        }
        expect(calls).toBeGreaterThan(2)
        expect((yield* messageOf(exported, "2")).redacted_at).not.toBeNull()
        expect((yield* World.journal(exported.id)).filter(({ action }) => action === "archive.redacted").length).toBe(1)
        expect(codeOf(yield* download(exported.key, crypto.randomUUID()))).toEqual([404, "resource_missing"])
      }))
  })
})
