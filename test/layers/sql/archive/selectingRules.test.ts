import { describe, expect, layer } from "@effect/vitest"
import { Effect } from "effect"
import * as fc from "fast-check"
import * as crypto from "node:crypto"
import { ChatType } from "../../../../src/domain/archive/Chat.ts"
import { select } from "../../../../src/domain/archive/RuleSelection.ts"
import { sampled } from "../../../support/drawn.ts"
import { forEachDatabase } from "../../../support/postgres/database.ts"
import * as World from "../../../support/world.ts"

const levels = ["account", "department", "organization"] as const
const effects = ["archive", "review", "skip"] as const

/** Rules of an account with at most one for each level and type, or chat. */
const rules = fc.uniqueArray(
  fc.oneof(
    fc.record({
      level: fc.constantFrom(...levels),
      chatType: fc.constantFrom("any" as const, ...ChatType.literals),
      chatId: fc.constant(null),
      effect: fc.constantFrom(...effects)
    }),
    fc.record({
      level: fc.constant("account" as const),
      chatType: fc.constant(null),
      chatId: fc.bigInt({ min: 1n, max: 2n }),
      effect: fc.constantFrom(...effects)
    })
  ),
  { maxLength: 5, selector: ({ chatId, chatType, level }) => `${level} ${chatType} ${chatId}` }
)

const others = { media: "none", maxFileBytes: null, live: false } as const

/** Chats of every type, and those that the rules name. */
const chats = [
  ...ChatType.literals.map((type, place) => ({ type, chatId: BigInt(100 + place) })),
  { type: "private" as const, chatId: 1n },
  { type: "private" as const, chatId: 2n }
]

const statusOf = (key: World.Asking["key"] & {}, id: string) =>
  Effect.map(World.get(`/v1/accounts/${id}`, key), ({ body }) => body.archive.status)

describe("12.1 whether a rule selects anything of an account", () => {
  forEachDatabase((_, database) => {
    layer(World.world(database))((it) => {
      it.effect("is what the rules decide about chats of each type and those that they name", () =>
        Effect.gen(function*() {
          const { id } = yield* World.makeOrganization()
          const [department, account] = [yield* World.makeDepartment(id), crypto.randomUUID()]
          const targets = { account, department, organization: null }
          for (const drawn of fc.sample(rules, sampled(60))) {
            yield* World.query(id, (sql) => sql`delete from archive_rule where organization_id = ${id}`)
            const made = drawn.map((rule) => ({ ...others, ...rule, ruleId: crypto.randomUUID() }))
            yield* World.addRows(
              "archive_rule",
              id,
              made.map((rule) => ({
                rule_id: rule.ruleId,
                level: rule.level,
                target: targets[rule.level],
                chat_type: rule.chatType,
                chat_id: rule.chatId,
                effect: rule.effect,
                media: rule.media,
                max_file_bytes: null,
                live: rule.live,
                updated_at: new Date(0),
                updated_by: null
              }))
            )
            const [found] = yield* World.query<{ selects: boolean }>(
              id,
              (sql) => sql`select rules_select(${id}, ${account}::uuid, ${department}::uuid) as selects`
            )
            const archives = chats.some((chat) => select(made, { ...chat, predecessor: null }).effect === "archive")
            expect([drawn, found?.selects]).toEqual([drawn, archives])
          }
        }))

      it.effect("is in the status of an account that has just been connected, and follows its rules and its department", () =>
        Effect.gen(function*() {
          const { admins, id } = yield* World.makeOrganization()
          const { key } = admins.owner
          const seeded = yield* World.makeAccount(id)
          const connected = Effect.gen(function*() {
            const account = crypto.randomUUID()
            const own = { id: account, messenger_user_id: account, phone_number: `+${crypto.randomInt(1e9, 1e10)}` }
            yield* World.query(
              id,
              (sql) =>
                sql`
                insert into account select (jsonb_populate_record(null::account,
                  to_jsonb(account) || ${JSON.stringify(own)}::text::jsonb)).*
                from account where id = ${seeded}`
            )
            return account
          })
          const before = yield* connected
          expect(yield* statusOf(key, before)).toBe("disabled")
          const create = (body: object) =>
            Effect.map(World.send("POST", "/v1/archive/rules", { key, body }), ({ body, status }) => {
              expect([status, body.error]).toEqual([200, undefined])
              return body.id
            })
          const rule = yield* create({
            target: { level: "organization", id: null },
            selector: { chat_type: "private", chat_id: null },
            effect: "archive"
          })
          expect([yield* statusOf(key, before), yield* statusOf(key, yield* connected)]).toEqual(["idle", "idle"])
          const own = yield* create({
            target: { level: "account", id: before },
            selector: { chat_type: "any", chat_id: null },
            effect: "skip"
          })
          expect(yield* statusOf(key, before)).toBe("disabled")
          yield* World.send("PATCH", `/v1/archive/rules/${own}`, { key, body: { effect: "archive" } })
          yield* World.send("DELETE", `/v1/archive/rules/${rule}`, { key })
          expect(yield* statusOf(key, before)).toBe("idle")
          yield* World.send("DELETE", `/v1/archive/rules/${own}`, { key })
          expect(yield* statusOf(key, before)).toBe("disabled")

          const department = yield* World.makeDepartment(id)
          yield* create({
            target: { level: "department", id: department },
            selector: { chat_type: "any", chat_id: null },
            effect: "archive"
          })
          expect(yield* statusOf(key, before)).toBe("disabled")
          const move = (department_id: string | null) =>
            World.send("PUT", `/v1/accounts/${before}/department`, { key, body: { department_id } })
          expect((yield* move(department)).status).toBe(200)
          expect(yield* statusOf(key, before)).toBe("idle")
          yield* move(null)
          expect(yield* statusOf(key, before)).toBe("disabled")
        }))
    })
  })
})
