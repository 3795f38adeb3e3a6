import { describe, expect, it, layer } from "@effect/vitest"
import { Effect } from "effect"
import * as crypto from "node:crypto"
import { patterns, searchText } from "../../src/domain/accounts/AccountSearch.ts"
import { asOwner, forSpecification, postgres } from "../support/postgres/database.ts"
import { plan, runs } from "../support/postgres/plans.ts"
import { recording } from "../support/postgres/statements.ts"
import * as World from "../support/world.ts"

const find = (key: World.Asking["key"], query: string, more = "") =>
  World.send("GET", `/v1/account-search?query=${encodeURIComponent(query)}${more}`, key === undefined ? {} : { key })

describe("the text that accounts are found by", () => {
  it("has no case, no compatibility forms and no diacritics", () => {
    const text = searchText({
      first_name: "ÉLODIE  ﬁona",
      last_name: "Łukasz-Ångström",
      username: "Elodie_F",
      phone_number: "+49 170 55",
      role_label: "Head of Größe"
    })
    expect(text).toBe("#4917055\n head of grosse\n@elodie_f\n elodie fiona lukasz angstrom")
  })

  it("takes a query's own wildcards as what they are", () => {
    for (const query of ["100%", "a_b", "c\\d"]) {
      for (const { like } of patterns(query)) expect(like.replaceAll(/\\[\\%_]/g, "")).not.toMatch(/\w_\w|\w%\w/)
    }
    expect(patterns("%%%")).toEqual([])
  })

  it("looks for the starts of words alone below three letters", () => {
    for (const { like } of patterns("ad").filter(({ rank }) => rank > 1)) expect(like).toContain(" ad%")
  })
})

describe("find_accounts", () => {
  forSpecification((_, database) => {
    layer(World.world(database))((it) => {
      it.effect("answers the best match first: whole number, username, start of a name's word, anywhere", () =>
        Effect.gen(function*() {
          const { admins, id } = yield* World.makeOrganization()
          const { key } = admins.owner
          const make = (first_name: string, more: object = {}) =>
            World.makeAccount(id, { first_name, last_name: null, ...more })
          const inside = yield* make("Rosalinda")
          const label = yield* make("Zoe", { facts: { role_label: "Linda's deputy" } })
          const start = yield* make("José", { last_name: "Linda" })
          const username = yield* make("Somebody", { username: "linda" })
          const number = yield* make("Nobody", { phone: "+1 202-555-0143" })
          yield* make("Unrelated", { username: "other_one" })
          const ids = Effect.fnUntraced(function*(query: string) {
            const { body, status } = yield* find(key, query)
            expect([query, status, body.object, body.has_more]).toEqual([query, 200, "list", false])
            expect(Object.keys(body)[0]).toBe("content_notice")
            return body.data.map((found: { readonly id: string }) => found.id)
          })
          expect(yield* ids("LINDA")).toEqual([username, start, inside, label])
          expect(yield* ids("@linda")).toEqual([username, start, inside, label])
          expect(yield* ids("jose")).toEqual([start])
          expect(yield* ids("josé li")).toEqual([start])
          expect(yield* ids("+1 (202) 555-0143")).toEqual([number])
          expect(yield* ids("5550143")).toEqual([number])
          expect(yield* ids("li")).toEqual([start, label])
          expect(yield* ids("zzz")).toEqual([])
          expect(yield* ids("%")).toEqual([])
          const limited = yield* find(key, "linda", "&limit=2")
          expect([limited.body.data.length, limited.body.has_more]).toEqual([2, true])
        }))

      it.effect("follows a changed name and label, and refuses what is no query", () =>
        Effect.gen(function*() {
          const { admins, id } = yield* World.makeOrganization()
          const { key } = admins.owner
          const account = yield* World.makeLiveAccount(id)
          const path = `/v1/accounts/${account.id}`
          yield* World.put(`${path}/role-label`, key, { role_label: "Quartermaster" })
          expect((yield* find(key, "quarter")).body.data[0].id).toBe(account.id)
          yield* World.patch(`${path}/messenger-profile`, key, { first_name: "Wilhelmina" })
          expect((yield* find(key, "wilhel")).body.data[0].id).toBe(account.id)
          expect((yield* find(key, "quarter")).body.data[0].id).toBe(account.id)
          yield* World.put(`${path}/role-label`, key, { role_label: null })
          expect((yield* find(key, "quarter")).body.data).toEqual([])
          for (
            const [query, more, param] of [["", "", "query"], ["a".repeat(101), "", "query"], [
              "a",
              "&limit=51",
              "limit"
            ], ["a", "&limit=0", "limit"]] as const
          ) {
            const { body, status } = yield* find(key, query, more)
            expect([query, more, status, body.error.param]).toEqual([query, more, 400, param])
          }
          const without = yield* World.get("/v1/account-search", key)
          expect([without.status, without.body.error.param]).toEqual([400, "query"])
        }))

      it.effect("looks by the index in the department that an account was added to, and moves to", () =>
        Effect.gen(function*() {
          const { admins, id } = yield* World.makeOrganization()
          const [one, other] = [yield* World.makeDepartment(id), yield* World.makeDepartment(id)]
          const account = yield* World.makeAccount(id, { first_name: "Wanda", facts: { department_id: one } })
          const within = (departments: ReadonlyArray<string>) =>
            World.query<{ account: string }>(
              id,
              (sql) => sql`select matching_accounts('%wanda%', false, ${departments}::uuid[], '{}', 5) as account`
            )
          expect([yield* within([one]), yield* within([other])]).toEqual([[{ account }], []])
          yield* World.put(`/v1/accounts/${account}/department`, admins.owner.key, { department_id: other })
          expect([yield* within([one]), yield* within([other])]).toEqual([[], [{ account }]])
          yield* World.put(`/v1/accounts/${account}/department`, admins.owner.key, { department_id: null })
          expect(yield* within([one, other])).toEqual([])
        }))

      it.effect("S1-05: finds within the organization and what the admin can access alone", () =>
        Effect.gen(function*() {
          const one = yield* World.makeOrganization()
          const other = yield* World.makeOrganization()
          yield* World.makeAccount(other.id, { first_name: "Shared" })
          const department = yield* World.makeDepartment(one.id)
          const granted = yield* World.makeAccount(one.id, { first_name: "Shared", last_name: "A" })
          const filed = yield* World.makeAccount(one.id, {
            first_name: "Shared",
            last_name: "B",
            facts: { department_id: department }
          })
          const hidden = yield* World.makeAccount(one.id, { first_name: "Shared", last_name: "C" })
          const found = Effect.fnUntraced(function*(key: World.Asking["key"]) {
            return (yield* find(key, "shared")).body.data.map((account: { readonly id: string }) => account.id)
          })
          for (const role of ["owner", "superadmin", "billing"] as const) {
            expect([role, yield* found(one.admins[role].key)]).toEqual([role, [granted, filed, hidden]])
          }
          for (const role of ["admin", "archive"] as const) {
            expect([role, yield* found(one.admins[role].key)]).toEqual([role, []])
            yield* World.grant(one.id, one.admins[role].id, { accounts: [granted], departments: [department] })
            expect([role, yield* found(one.admins[role].key)]).toEqual([role, [granted, filed]])
          }
        }))
    })
  })

  layer(World.world(postgres))("on a large table", (it) => {
    /** Accounts by the thousand, each with a name of its own. */
    const fill = (id: string, count: number) =>
      World.query(
        id,
        (sql) =>
          sql`with made as (
              insert into account (organization_id, id, messenger_user_id, phone_number, first_name, name_key, status)
              select ${id}, gen_random_uuid(), n, '+' || n, 'Name', 'name', 'protected'
              from generate_series(1, ${count}) n returning id, messenger_user_id as n)
            insert into account_search (organization_id, account_id, search_text)
            select ${id}, id, '#' || n || E'\n \n@\n ' || md5(n) from made`
      )

    it.effect("reads of a small organization its own accounts alone, however many others have, and of a large one by the index", () =>
      Effect.gen(function*() {
        const [large, small] = [yield* World.makeOrganization(), yield* World.makeOrganization()]
        yield* fill(large.id, 20_000)
        yield* fill(small.id, 3000)
        yield* asOwner((sql) => sql`analyze account, account_search`)
        const name = crypto.createHash("md5").update("2345").digest("hex")
        for (const { admins, id } of [large, small]) {
          const numbers = Effect.fnUntraced(function*(key: World.Asking["key"], query: string) {
            const { answer, said } = yield* recording(find(key, query))
            const searched = said.find(({ sql }) => sql.includes("matching_accounts"))!
            const found = answer.body.data.map(({ phone_number }: { readonly phone_number: string }) => phone_number)
            return { found, plan: yield* plan(id, searched, "for all values") }
          })
          const { key } = admins.owner
          const whole = yield* numbers(key, "+2345")
          expect(whole.found[0]).toBe("+2345")
          const named = yield* numbers(key, name.slice(0, 9))
          expect(named.found).toEqual(["+2345"])
          const [account] = yield* World.query<{ id: string }>(
            id,
            (sql) => sql`select id from account where organization_id = ${id} and phone_number = '+2345'`
          )
          yield* World.grant(id, admins.admin.id, { accounts: [account!.id] })
          expect((yield* numbers(admins.admin.key, "23")).found).toEqual([])
          expect((yield* numbers(admins.admin.key, name)).found).toEqual(["+2345"])
          for (const { plan } of [whole, named]) {
            expect([id === large.id, runs(plan, "matching_accounts")]).toEqual([id === large.id, id === large.id])
          }
        }
      }))

    it.effect("looks in the index of trigrams, for who reaches everything and who does not, and for one letter", () =>
      Effect.gen(function*() {
        const { id } = yield* World.makeOrganization()
        yield* fill(id, 20_000)
        const plans = yield* asOwner((sql) =>
          Effect.gen(function*() {
            yield* sql`analyze account, account_search`
            const [definition] = yield* sql<{ prosrc: string; proconfig: ReadonlyArray<string> }>`
            select prosrc, proconfig from pg_proc where proname = 'matching_accounts'`
            const names = ["pattern", "everything", "departments", "accounts", "most"]
            const text = names.reduce(
              (body, name, index) => body.replace(new RegExp(`\\b${name}\\b`), `$${index + 1}`),
              definition!.prosrc
            )
            yield* sql`select set_config('console.organization_id', ${id}, true)`
            for (const setting of definition!.proconfig.filter((one) => one.startsWith("enable_"))) {
              yield* sql.unsafe(`set local ${setting}`)
            }
            yield* sql.unsafe("set local plan_cache_mode = force_generic_plan")
            yield* sql.unsafe(`prepare matching (text, boolean, uuid[], uuid[], integer) as ${text}`)
            return yield* Effect.forEach(
              ["%abc12%", "% a%"],
              (like) =>
                Effect.forEach(["true", "false"], (everything) =>
                  sql.unsafe<Record<string, unknown>>(
                    `explain execute matching ('${like}', ${everything}, '{}', '{}', 500)`
                  ))
            )
          }).pipe(sql.withTransaction)
        )
        for (const plan of plans.flat()) {
          const lines = plan.flatMap((row) => Object.values(row)).join("\n")
          expect(lines).toContain("Bitmap Index Scan on account_search_text")
          expect(lines).not.toMatch(/Seq Scan|Index Scan using/)
        }
      }))
  })
})
