import { describe, expect, layer } from "@effect/vitest"
import { Effect } from "effect"
import * as crypto from "node:crypto"
import * as Deletions from "../support/archive/deletions.ts"
import { postgres } from "../support/postgres/database.ts"
import * as World from "../support/world.ts"

const types = ["private", "group", "channel", "bot", "saved"] as const

/** Known chats of every type, of two accounts in one department. */
const stage = Effect.fnUntraced(function*() {
  const { admins, id } = yield* World.makeOrganization()
  const department = yield* World.makeDepartment(id)
  const accounts = yield* Effect.forEach([1, 2], () => World.makeAccount(id, { facts: { department_id: department } }))
  for (const [at, account_id] of accounts.entries()) {
    for (const [index, type] of types.entries()) {
      yield* Deletions.addRow("archive_chat", id, {
        account_id,
        chat_id: BigInt(100 * at + index + 1),
        type,
        ref: `chat ${index}`,
        effect: "review"
      })
    }
  }
  return { accounts, department, id, key: admins.owner.key }
})

const effects = (organizationId: string, accounts: ReadonlyArray<string>) =>
  Effect.map(
    World.query<{ effect: string }>(
      organizationId,
      (sql) => sql`select effect from archive_chat where account_id = any(${accounts}::uuid[])`
    ),
    (rows) => rows.map(({ effect }) => effect)
  )

const count = (all: ReadonlyArray<string>, effect: string) => all.filter((one) => one === effect).length

describe("preview_archive_rule", () => {
  layer(World.world(postgres))((it) => {
    it.effect("counts what the rule decides once it is made, whatever rules there are", () =>
      Effect.gen(function*() {
        const { accounts, department, id, key } = yield* stage()
        const targets = [
          { level: "organization", id: null },
          { level: "department", id: department },
          { level: "account", id: accounts[0] }
        ]
        const seen = new Set<number>()
        for (let round = 0; round < 24; round++) {
          const body = {
            target: targets[round % 3],
            selector: round % 8 === 7
              ? { chat_type: "any", chat_id: null }
              : { chat_type: types[(round * 7) % 5], chat_id: null },
            effect: ["archive", "skip", "review"][(round * 5) % 3]
          }
          const concerned = body.target?.level === "account" ? accounts.slice(0, 1) : accounts
          const before = yield* effects(id, concerned)
          const { body: preview } = yield* World.send("POST", "/v1/archive/rule-preview", { key, body })
          expect(yield* effects(id, concerned)).toEqual(before)
          const made = yield* World.send("POST", "/v1/archive/rules", { key, body })
          if (made.status === 409) continue
          const after = yield* effects(id, concerned)
          seen.add(preview.archive)
          expect(preview).toMatchObject({
            chats: after.length,
            archive: count(after, "archive"),
            skip: count(after, "skip"),
            review: count(after, "review")
          })
          expect(preview.begins - preview.ends).toBe(count(after, "archive") - count(before, "archive"))
        }
        expect(seen.size).toBeGreaterThan(3)
      }))

    it.effect("counts the chats as if a rule for the same accounts and chats were replaced", () =>
      Effect.gen(function*() {
        const { key } = yield* stage()
        const body = { target: { level: "organization", id: null }, selector: { chat_type: "any", chat_id: null } }
        yield* World.send("POST", "/v1/archive/rules", { key, body: { ...body, effect: "archive" } })
        const { body: preview } = yield* World.send("POST", "/v1/archive/rule-preview", {
          key,
          body: { ...body, effect: "skip" }
        })
        expect(preview).toMatchObject({ chats: 10, archive: 0, skip: 10, begins: 0, ends: 10 })
      }))
  })
})

describe("delete_department", () => {
  layer(World.world(postgres))((it) => {
    it.effect("deletes the department's rules of the archive, and no others", () =>
      Effect.gen(function*() {
        const { admins, id } = yield* World.makeOrganization()
        const { key } = admins.owner
        const [one, other] = [yield* World.makeDepartment(id), yield* World.makeDepartment(id)]
        for (const department of [one, other]) {
          const made = yield* World.send("POST", "/v1/archive/rules", {
            key,
            body: {
              target: { level: "department", id: department },
              selector: { chat_type: "any", chat_id: null },
              effect: "archive"
            }
          })
          expect(made.status).toBe(200)
        }
        const remove = (department: string) => World.send("DELETE", `/v1/departments/${department}`, { key })
        expect((yield* remove(crypto.randomUUID())).status).toBe(404)
        expect((yield* remove(one)).status).toBe(200)
        const { body } = yield* World.get("/v1/archive/rules", key)
        expect(body.data.map(({ target }: { target: { id: string } }) => target.id)).toEqual([other])
      }))
  })
})

describe("create_archive_rule", () => {
  layer(World.world(postgres))((it) => {
    it.effect("refuses one more where an account has a thousand rules, and not of any other account", () =>
      Effect.gen(function*() {
        const { accounts: [full = "", other = ""], id, key } = yield* stage()
        yield* World.query(id, (sql) =>
          sql`
            insert into archive_rule (organization_id, rule_id, level, target, chat_id, effect, media, live, updated_at)
            select ${id}, gen_random_uuid(), 'account', ${full}::uuid, number, 'skip', 'all', true, now()
            from generate_series(1001, 2000) as number`)
        const make = (account: string) =>
          World.send("POST", "/v1/archive/rules", {
            key,
            body: {
              target: { level: "account", id: account },
              selector: { chat_type: "any", chat_id: null },
              effect: "archive"
            }
          })
        const refused = yield* make(full)
        expect([refused.status, refused.body.error.code, refused.body.error.param]).toEqual([
          400,
          "parameter_invalid",
          "target"
        ])
        expect((yield* make(other)).status).toBe(200)
      }))
  })
})
