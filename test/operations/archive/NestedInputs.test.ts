import { describe, expect, it, layer } from "@effect/vitest"
import { Effect } from "effect"
import { prepare } from "../../../src/mcp/Arguments.ts"
import { operations } from "../../../src/operations/index.ts"
import * as Mcp from "../../mcp/support.ts"
import { makeExported } from "../../support/archive/exportedArchive.ts"
import { postgres } from "../../support/postgres/database.ts"
import * as World from "../../support/world.ts"

const prepared = (id: string, given: object) => prepare(operations.find((one) => one.id === id)!, given)

describe("a null in what an input holds", () => {
  it("is left out of the arguments of a tool at every depth, where it is none of the member's values", () => {
    const access = { scope_type: "granted", account_ids: null, archive: null, other: null }
    expect(prepared("invite_admin", { email: null, access })).toEqual({
      email: null,
      access: { scope_type: "granted", other: null }
    })
    const rule = { target: { level: "organization", id: null }, selector: { chat_type: "any", chat_id: null } }
    expect(prepared("create_archive_rule", { ...rule, media: null, max_file_bytes: null })).toEqual({
      ...rule,
      max_file_bytes: null
    })
    expect(prepared("list_chats", { account_id: "a", type: null })).toEqual({ account_id: "a", limit: 20 })
  })

  layer(World.world(postgres))((it) => {
    it.effect("means left out in the criteria of a cleanup and of an export, over HTTP and as a tool", () =>
      Effect.gen(function*() {
        const { accountId, key } = yield* makeExported
        const account_ids = [accountId]
        const asked = {
          preview_archive_cleanup: ["/v1/archive/cleanups", { account_ids, chat_ids: null, before: null, what: null }],
          create_archive_export: ["/v1/archive/exports", { account_ids, chat_ids: null, since: null, until: null }]
        } as const
        for (const [id, [path, criteria]] of Object.entries(asked)) {
          const more = id === "create_archive_export" ? { format: "json" } : {}
          for (
            const { body, status } of [
              yield* World.send("POST", path, { key, body: { criteria, ...more } }),
              Mcp.resultOf(yield* Mcp.call(id, { criteria, ...more }, { key }))
            ]
          ) {
            expect([id, status, body.messages]).toEqual([id, 200, 3])
            expect(body.criteria).toMatchObject({ account_ids, chat_ids: null })
          }
        }
      }))

    it.effect("may stand for the other member of a rule's chats, which may be left out; both and neither are refused", () =>
      Effect.gen(function*() {
        const { accountId, key } = yield* makeExported
        const preview = (selector: object) => ({
          target: { level: "account", id: accountId },
          selector,
          effect: "archive"
        })
        const send = (selector: object) =>
          World.send("POST", "/v1/archive/rule-preview", { key, body: preview(selector) })
        for (
          const selector of [
            { chat_type: "private" },
            { chat_type: "private", chat_id: null },
            { chat_id: "4242" },
            { chat_type: null, chat_id: "4242" }
          ]
        ) {
          expect((yield* send(selector)).status).toBe(200)
          const called = Mcp.resultOf(yield* Mcp.call("preview_archive_rule", preview(selector), { key }))
          expect(called.body).toMatchObject({ object: "archive_rule_preview" })
        }
        const messages = []
        for (const selector of [{}, { chat_type: null, chat_id: null }, { chat_type: "private", chat_id: "4242" }]) {
          const refused = yield* send(selector)
          expect(World.refusal(refused)).toEqual([400, "parameter_invalid", "selector"])
          messages.push(refused.body.error.message)
        }
        expect(messages).toMatchInlineSnapshot(`
          [
            "selector.chat_type: is required.",
            "selector.chat_type: expected private, group, channel, bot, saved or any.",
            "selector.chat_id: expected null.",
          ]
        `)
      }))
  })
})
