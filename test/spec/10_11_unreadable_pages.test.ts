import { describe, expect, layer } from "@effect/vitest"
import { Effect } from "effect"
import { download, makeExported } from "../support/archive/exportedArchive.ts"
import { postgres } from "../support/postgres/database.ts"
import * as World from "../support/world.ts"

const events = (id: string) =>
  Effect.map(World.journal(id), (all) => all.filter(({ action }) => action === "archive.unreadable"))

const unreadable = (key: NonNullable<World.Asking["key"]>) =>
  Effect.map(World.get("/v1/status", key), ({ body }) => body.saving.unreadable_messages)

describe("10.11 pages that do not open", () => {
  layer(World.world(postgres))((it) => {
    it.effect("are journaled once for all readers, and counted in the status until they are deleted", () =>
      Effect.gen(function*() {
        const { accountId, id, key } = yield* makeExported
        const messages = `/v1/archive/accounts/${accountId}/chats/4242/messages`
        const search = World.send("POST", "/v1/archive/search", { key, body: { query: "text" } })
        yield* World.get(messages, key)
        expect([yield* events(id), yield* unreadable(key)]).toEqual([[], 0])
        yield* World.query<object>(
          id,
          (sql) =>
            sql`update archive_page set sealed = set_byte(sealed, length(sealed) - 1, get_byte(sealed, length(sealed) - 1) # 1)
              where organization_id = ${id} and kind = 'messages'`
        )
        for (const ask of [World.get(messages, key), search, World.get(messages, key), search]) {
          const { body, status } = yield* ask
          expect([status, body.data, body.unreadable > 0]).toEqual([200, [], true])
        }
        expect(yield* events(id)).toMatchObject([{ account_id: accountId, details: { pages: 1, messages: 3 } }])
        expect(yield* unreadable(key)).toBe(3)
        yield* World.query<object>(id, (sql) => sql`delete from archive_page where organization_id = ${id}`)
        expect(yield* unreadable(key)).toBe(0)
      }))

    it.effect("are found by an export alone too, once it is downloaded", () =>
      Effect.gen(function*() {
        const { create, id, key } = yield* makeExported
        yield* World.query<object>(
          id,
          (sql) => sql`update archive_epoch set sealed_key = '\\x00'::bytea where organization_id = ${id}`
        )
        const { body } = yield* create("json")
        expect(yield* events(id)).toEqual([])
        expect((yield* download(key, body.id)).status).toBe(200)
        expect((yield* events(id)).map(({ details }) => details["messages"])).toEqual([3])
        yield* download(key, body.id)
        expect(yield* events(id)).toHaveLength(1)
      }))

    it.effect("are journaled by a request for one of their messages too, which is refused as unreadable and not as missing; its edits are listed as far as they open", () =>
      Effect.gen(function*() {
        const { accountId, id, key } = yield* makeExported
        yield* World.query<object>(
          id,
          (sql) => sql`update archive_epoch set sealed_key = '\\x00'::bytea where organization_id = ${id}`
        )
        const path = `/v1/archive/accounts/${accountId}/chats/4242/messages/`
        expect(World.refusal(yield* World.get(`${path}4`, key))).toEqual([404, "resource_missing", "message_id"])
        for (const around of [0, 2]) {
          expect(World.refusal(yield* World.get(`${path}2?around=${around}`, key))).toEqual([409, "content_unreadable"])
        }
        expect((yield* events(id)).map(({ details }) => details["messages"])).toEqual([3])
        expect(yield* World.get(`${path}2/edits`, key)).toMatchObject({
          status: 200,
          body: { data: [], unreadable: 1 }
        })
        expect(World.refusal(yield* World.get(`${path}4/edits`, key))).toEqual([404, "resource_missing", "message_id"])
      }))

    it.effect("are found by a search alone too", () =>
      Effect.gen(function*() {
        const { id, key } = yield* makeExported
        yield* World.query<object>(
          id,
          (sql) => sql`update archive_epoch set sealed_key = '\\x00'::bytea where organization_id = ${id}`
        )
        yield* World.send("POST", "/v1/archive/search", { key, body: { query: "text" } })
        expect((yield* events(id)).map(({ details }) => details["messages"])).toEqual([3])
      }))
  })
})
