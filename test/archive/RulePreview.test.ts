import { describe, expect, layer } from "@effect/vitest"
import { Effect } from "effect"
import * as crypto from "node:crypto"
import * as Deletions from "../support/archive/deletions.ts"
import { asOwner, postgres } from "../support/postgres/database.ts"
import { plan, rowsRead } from "../support/postgres/plans.ts"
import { recording } from "../support/postgres/statements.ts"
import * as World from "../support/world.ts"

const known = 500
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

interface Judged {
  readonly account_id: string
  readonly chat_id: string
  readonly type: string
  readonly effect: string
}

const judged = (organizationId: string, accounts: ReadonlyArray<string>) =>
  World.query<Judged>(organizationId, (sql) =>
    sql`
      select account_id::text, chat_id::text, type, effect from archive_chat
      where account_id = any(${accounts}::uuid[]) order by account_id, chat_id`)

interface Rule {
  readonly target: { readonly level: string; readonly id: string | null }
  readonly selector: { readonly chat_type: string | null; readonly chat_id: string | null }
  readonly effect: string
}

/** The effect of the rules on a chat: of the nearest level, there of the narrowest selector. */
const effectOf = (rules: ReadonlyArray<Rule>, chat: Judged): string => {
  for (const level of ["account", "department", "organization"]) {
    const near = rules.filter(({ target }) =>
      target.level === level && (level !== "account" || target.id === chat.account_id)
    )
    const found = near.find(({ selector }) => selector.chat_id === chat.chat_id) ??
      near.find(({ selector }) => selector.chat_type === chat.type) ??
      near.find(({ selector }) => selector.chat_type === "any")
    if (found !== undefined) return found.effect
  }
  return "review"
}

const count = (all: ReadonlyArray<Judged>, effect: string) => all.filter((one) => one.effect === effect).length

/** The chats that are archived in one state and not in the other. */
const gained = (from: ReadonlyArray<Judged>, to: ReadonlyArray<Judged>) =>
  to.filter(({ effect }, place) => effect === "archive" && from[place]?.effect !== "archive").length

describe("preview_archive_rule", () => {
  layer(World.world(postgres))((it) => {
    it.effect("counts what the rule decides once it is made, whatever rules there are", () =>
      Effect.gen(function*() {
        const { accounts, department, id, key } = yield* stage()
        const organization: Rule["target"] = { level: "organization", id: null }
        const targets: ReadonlyArray<Rule["target"]> = [
          organization,
          { level: "department", id: department },
          { level: "account", id: accounts[0] ?? null }
        ]
        const rules: Array<Rule> = []
        const seen = new Set<number>()
        for (let round = 0; round < 36; round++) {
          const target = targets[round % 3] ?? organization
          const chatId = String(100 * (round % 2) + 1 + round % 5)
          const body: Rule = {
            target,
            selector: target.level === "account" && round % 2 === 0
              ? { chat_type: null, chat_id: chatId }
              : { chat_type: round % 8 === 7 ? "any" : types[(round * 7) % 5] ?? "any", chat_id: null },
            effect: ["archive", "skip", "review"][Math.floor(round / 3) % 3] ?? "archive"
          }
          const concerned = body.target.level === "account" ? accounts.slice(0, 1) : accounts
          const before = yield* judged(id, concerned)
          const { body: preview } = yield* World.send("POST", "/v1/archive/rule-preview", { key, body })
          expect(yield* judged(id, concerned)).toEqual(before)
          const made = yield* World.send("POST", "/v1/archive/rules", { key, body })
          if (made.status === 409) continue
          expect(made.status).toBe(200)
          rules.push(body)
          const after = yield* judged(id, concerned)
          expect(after.map(({ effect }) => effect)).toEqual(after.map((chat) => effectOf(rules, chat)))
          seen.add(preview.archive)
          expect(preview).toMatchObject({
            chats: after.length,
            archive: count(after, "archive"),
            skip: count(after, "skip"),
            review: count(after, "review"),
            begins: gained(before, after),
            ends: gained(after, before)
          })
        }
        expect(seen.size).toBeGreaterThan(3)
        expect(rules.filter(({ selector }) => selector.chat_id !== null).length).toBeGreaterThan(2)
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

    it.effect("reads each of an account's chats some times, however many they are", () =>
      Effect.gen(function*() {
        const { accounts: [account], id, key } = yield* stage()
        yield* World.query<object>(
          id,
          (sql) =>
            sql`
            insert into archive_chat (organization_id, account_id, chat_id, type, ref)
            select ${id}, ${account}::uuid, 1000 + n, 'group', 'chat ' || n from generate_series(1, ${known}::integer) as n`
        )
        yield* asOwner((sql) => sql`analyze archive_chat`)
        const body = {
          target: { level: "account", id: account },
          selector: { chat_type: "any", chat_id: null },
          effect: "skip"
        }
        const { answer, said } = yield* recording(World.send("POST", "/v1/archive/rule-preview", { key, body }))
        expect(answer.body).toMatchObject({ chats: known + types.length })
        const [preview] = said.filter(({ sql }) => sql.includes("archive_chat"))
        expect(rowsRead(yield* plan(id, preview!))).toBeLessThan(10 * known)
      }))
  })
})

describe("set_account_department", () => {
  layer(World.world(postgres))((it) => {
    it.effect("judges the account's chats by the rules of its new department, and the files that the others left out", () =>
      Effect.gen(function*() {
        const { accounts: [account = "", other = ""], department, id, key } = yield* stage()
        const next = yield* World.makeDepartment(id)
        const made = (target: string, chat_type: string, effect: string) =>
          World.send("POST", "/v1/archive/rules", {
            key,
            body: { target: { level: "department", id: target }, selector: { chat_type, chat_id: null }, effect }
          })
        yield* made(department, "any", "archive")
        const { body: { id: rule } } = yield* made(next, "group", "archive")
        yield* made(next, "channel", "skip")
        yield* World.query(id, (sql) =>
          sql`
            insert into archive_file
              (organization_id, account_id, file_id, chat_id, message_id, day, state, reason, at)
            select ${id}, account::uuid, gen_random_uuid(), 2, 1, '2026-01-01', 'skipped', 'rule', now()
            from unnest(${[account, other]}::text[]) as account`)
        const moved = yield* World.send("PUT", `/v1/accounts/${account}/department`, {
          key,
          body: { department_id: next }
        })
        expect(moved.status).toBe(200)
        const effects = (yield* judged(id, [account])).map(({ effect, type }) => [type, effect])
        expect(Object.fromEntries(effects)).toEqual({
          private: "review",
          group: "archive",
          channel: "skip",
          bot: "review",
          saved: "review"
        })
        expect((yield* judged(id, [other])).every(({ effect }) => effect === "archive")).toBe(true)
        const rules = yield* World.query(
          id,
          (sql) => sql`select rule_id::text from archive_chat where account_id = ${account}::uuid and type = 'group'`
        )
        expect(rules).toEqual([{ rule_id: rule }])
        const states = yield* World.query<{ account: string; state: string }>(
          id,
          (sql) => sql`select account_id::text as account, state from archive_file where organization_id = ${id}`
        )
        expect(Object.fromEntries(states.map(({ account, state }) => [account, state]))).toEqual({
          [account]: "pending",
          [other]: "skipped"
        })
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
