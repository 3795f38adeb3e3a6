import { describe, expect, layer } from "@effect/vitest"
import { Effect, Redacted } from "effect"
import { TestClock } from "effect/testing"
import { Access } from "../../../src/index.ts"
import * as Loader from "../../../src/layers/seed/SeedLoader.ts"
import { listMessages } from "../../../src/operations/archive/list_messages.ts"
import { Credentials } from "../../../src/ports/credentials/Credentials.ts"
import * as Mcp from "../../mcp/support.ts"
import { archivePassword, passwordHeader } from "../../support/archive/archivePassword.ts"
import * as Leaks from "../../support/leaks.ts"
import { pglite } from "../../support/postgres/database.ts"
import { wordsIn } from "../../support/wordLeaks.ts"
import * as World from "../../support/world.ts"

const messages = 10_000
const perChat = 500
const owner = "o@large.example"

const seed = {
  organizations: [{
    id: "large",
    name: "Large",
    status: "active",
    plan: "governance",
    seat_limit: 1,
    archive: { password: archivePassword, key_set: true },
    admins: [{ email: owner, name: "Olga", role: "owner" }],
    accounts: [{ phone: "+31600000001", first_name: "Ann", archive: { generated_messages: messages } }],
    api_keys: [{ label: "All", admin: owner, scopes: ["org:read", "archive:read"] }]
  }]
}

describe("a seed of 10,000 sealed messages", () => {
  layer(World.world(pglite))((it) => {
    it.effect("is listed with the password over HTTP, MCP and embedded, whole and newest first, and says nothing without", () =>
      Effect.gen(function*() {
        yield* TestClock.setTime(Date.parse("2026-03-01T12:00:00.000Z"))
        const loaded = yield* Effect.flatMap(Loader.decode(seed), Loader.load)
        const key = loaded.keys[0]?.key ?? ""
        const [account] = (yield* World.get("/v1/archive/accounts", key)).body.data
        const chats = `/v1/archive/accounts/${account.id}/chats`
        const listed = (yield* World.get(`${chats}?limit=100`, key)).body.data
        expect(listed).toHaveLength(messages / perChat)

        for (const { id } of listed) {
          const ids: Array<number> = []
          let before: string | undefined
          do {
            const query = `limit=100${before === undefined ? "" : `&before_id=${before}`}`
            const { body } = yield* World.get(`${chats}/${id}/messages?${query}`, key)
            ids.push(...body.data.map((message: { id: string }) => Number(message.id)))
            before = body.has_more ? body.data.at(-1).id : undefined
          } while (before !== undefined)
          expect(ids).toEqual(Array.from({ length: perChat }, (_, place) => perChat - place))
        }

        const asked = { account_id: account.id, chat_id: listed[0].id, limit: 3 }
        const newest = (yield* World.get(`${chats}/${asked.chat_id}/messages?limit=3`, key)).body.data
        const credentials = yield* Credentials
        const admin = yield* credentials.actAs(Access.OrganizationId.make("large"), owner)
        const caller = Access.Caller.of({
          ...admin,
          via: "embedded",
          ip: null,
          requestId: null,
          extras: { archivePassword: Redacted.make(archivePassword) }
        })
        const embedded = yield* Effect.provideService(listMessages.call(asked), Access.Caller, caller)
        expect(embedded.data.map(({ id, text }) => [id, text])).toEqual(
          newest.map(({ id, text }: { id: string; text: string }) => [id, text])
        )
        const tool = yield* Mcp.call("list_messages", asked, { key, headers: passwordHeader() })
        for (const { text } of embedded.data) expect(JSON.stringify(tool.body)).toContain(text)

        const without = yield* World.send("GET", `${chats}/${asked.chat_id}/messages`, { key, password: false })
        expect([without.status, without.body.error.code]).toEqual([403, "archive_password_required"])
        const rows = yield* Leaks.dump("large")
        const words = { german: "lieferung", russian: "договор" }
        expect([...rows].filter(([, text]) => wordsIn(text, words).length > 0)).toEqual([])
      }))
  })
})
