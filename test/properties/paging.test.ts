import { describe, expect, layer } from "@effect/vitest"
import { Arbitrary, Effect, SchemaAST } from "effect"
import { TestClock } from "effect/testing"
import type * as Operation from "../../src/kernel/Operation.ts"
import { operations } from "../added/index.ts"
import { drawnOn } from "../support/drawn.ts"
import * as Populated from "../support/populated.ts"
import { forEachDatabase } from "../support/postgres/database.ts"
import * as Random from "../support/random.ts"
import * as World from "../support/world.ts"

/** Few names, so that equal ones meet: in every case, with accents, in compatibility forms, and none at all. */
const name = Random.pickOf(
  "ada",
  "Ada",
  "ADA",
  "ádá",
  "A\u0301da",
  "Ａｄａ",
  "Éa",
  "éA",
  "ea",
  "ß",
  "SS",
  "İ",
  "i",
  "Ωmega",
  "ωmega",
  "张伟",
  "🦊",
  "ﬁ",
  "z",
  "~",
  " Ada",
  "_ada",
  null
)

const listed = Arbitrary.array(
  Arbitrary.all([name, Random.oneOf(Arbitrary.Constant(null), Arbitrary.Constant(null), name)]),
  { minLength: 0, maxLength: 14 }
)

const folded = (account: { readonly name: string }) => account.name.normalize("NFKC").toLowerCase()

const compare = (a: string, b: string) => Buffer.compare(Buffer.from(a), Buffer.from(b))

/** Every page of a list, from the first to the one that says that no more follow. */
const walk = Effect.fnUntraced(function*<R>(
  path: string,
  cursor: string,
  key: World.Person["key"],
  between: (seen: ReadonlyArray<any>) => Effect.Effect<unknown, unknown, R>
) {
  const pages: Array<ReadonlyArray<any>> = []
  while (true) {
    const last = pages.at(-1)?.at(-1)
    const { body, status } = yield* World.get(last === undefined ? path : `${path}&${cursor}=${last.id}`, key)
    expect(status).toBe(200)
    pages.push(body.data)
    if (body.has_more !== true) return pages
    yield* between(pages.flat())
  }
})

const nothingBetween = () => Effect.void

const ids = (items: ReadonlyArray<any>): ReadonlyArray<string> => items.map(({ id }) => id)

/** Every operation that answers pages. */
const lists = operations.filter(({ query, success }: Operation.Any) => "has_more" in success.fields && "limit" in query)

/** The member of the query that names where a page begins, and the member of the item before that it names. */
const cursorOf = ({ query }: Operation.Any): readonly [cursor: string, member: string] | undefined =>
  Object.keys(query).flatMap((name): ReadonlyArray<readonly [string, string]> => {
    if (name === "starting_after" || name === "before_id") return [[name, "id"]]
    return name.startsWith("after_") ? [[name, name.slice("after_".length)]] : []
  })[0]

/** What the operation has to be told to answer a list at all. */
const needed = (operation: Operation.Any): ReadonlyArray<readonly [name: string, value: unknown]> =>
  Object.entries(operation.sample.request).filter(([name]) =>
    Object.hasOwn(operation.query, name) && !SchemaAST.isOptional(operation.query[name].ast)
  )

describe("4.15 paging", () => {
  forEachDatabase((on, database) => {
    layer(World.world(database))((it) => {
      it.effect("S2.1-02: pages of every size of every list give every item once, in one order", () =>
        Effect.gen(function*() {
          const { admins, id, ids: known } = yield* Populated.make()
          const pathOf = (operation: Operation.Any) =>
            operation.path.replace(/:(\w+)/g, (_, name) => String(known[Random.idKindOf(operation, name)!][0]))
          for (const subject of ["Second", "Third"]) yield* World.makeSupportRequest(id, admins.owner.id, subject)
          for (const operation of lists) {
            const [cursor, member] = cursorOf(operation) ?? []
            const wanted = needed(operation)
            for (const [, value] of wanted) {
              for (const last_name of ["A", "B"]) yield* World.makeAccount(id, { first_name: String(value), last_name })
            }
            const read = (limit: number, after: unknown) => {
              const query = new URLSearchParams(wanted.map(([name, value]): [string, string] => [name, String(value)]))
              query.set("limit", String(limit))
              if (cursor !== undefined && after !== undefined) query.set(cursor, String(after))
              return Effect.map(
                World.get(`${pathOf(operation)}?${query.toString()}`, admins.owner.key),
                ({ body }) => body
              )
            }
            const { data: all, has_more } = yield* read(50, undefined)
            expect([operation.id, all.length > 1, has_more]).toEqual([operation.id, true, false])
            for (const limit of [1, 3]) {
              yield* TestClock.adjust("61 seconds")
              const seen: Array<any> = []
              while (true) {
                const page = yield* read(limit, member === undefined ? undefined : seen.at(-1)?.[member])
                seen.push(...page.data)
                const what = `${operation.id} by ${limit}, ${seen.length}`
                expect([what, page.has_more, ids(page.data)]).toEqual([
                  what,
                  seen.length < all.length,
                  ids(all.slice(seen.length - page.data.length, seen.length))
                ])
                if (page.has_more) expect([what, page.data.length]).toEqual([what, limit])
                // A search has one page.
                if (page.has_more !== true || cursor === undefined) break
              }
              if (cursor !== undefined) expect([operation.id, seen.length]).toEqual([operation.id, all.length])
            }
          }
        }))

      const makeAccounts = (organizationId: string, names: ReadonlyArray<readonly [string | null, string | null]>) =>
        Effect.forEach(names, ([first_name, last_name]) => World.makeAccount(organizationId, { first_name, last_name }))

      it.effect.prop(
        "S2.1-02, S4.7-06, S4.7-09, S4.15-02: pages of every size give every account once, in one order",
        { names: listed },
        ({ names }) =>
          Effect.gen(function*() {
            const { admins, id } = yield* World.makeOrganization()
            const made = yield* makeAccounts(id, names)
            const orders = new Set<string>()
            for (const limit of [1, 2, 3, 5, 7, 13, 14, 15, 100]) {
              yield* TestClock.adjust("61 seconds")
              const pages = yield* walk(
                `/v1/accounts?limit=${limit}`,
                "starting_after",
                admins.billing.key,
                nothingBetween
              )
              expect(pages.slice(0, -1).every((page) => page.length === limit)).toBe(true)
              expect(pages.length).toBe(Math.max(1, Math.ceil(names.length / limit)))
              orders.add(ids(pages.flat()).join())
              const sorted = pages.flat().toSorted((a, b) => compare(folded(a), folded(b)) || compare(a.id, b.id))
              expect(ids(pages.flat())).toEqual(ids(sorted))
              expect(ids(pages.flat()).toSorted()).toEqual([...made].sort())
            }
            expect(orders.size).toBe(1)
          }),
        drawnOn(on, 5)
      )

      it.effect.prop(
        "S2.1-02: pages of every size give every admin and every department once, in one order, whoever comes meanwhile",
        { names: listed },
        ({ names }) =>
          Effect.gen(function*() {
            const { admins, id } = yield* World.makeOrganization()
            const made = new Map(
              names.flatMap(([first, last]) => [first, last]).flatMap((text) =>
                text === null ? [] : [[text.normalize("NFKC").toLowerCase(), text] as const]
              )
            )
            yield* Effect.forEach(made.values(), (text) => World.makeDepartment(id, text))
            yield* Effect.forEach(
              ["b@x.example", "A@x.example", "a_@x.example", "Z@x.example", "~@x.example"],
              (email) => World.makePerson(id, "archive", { email })
            )
            const lists = [
              ["departments", ({ name }: any) => name.normalize("NFKC").toLowerCase(), made.size],
              ["admins", ({ email, role }: any) => `${role === "owner" ? 0 : 1}${email.toLowerCase()}`, 10]
            ] as const
            for (const [list, key, count] of lists) {
              const orders = new Set<string>()
              for (const limit of [1, 2, 3, 5, 100]) {
                yield* TestClock.adjust("61 seconds")
                const pages = yield* walk(
                  `/v1/${list}?limit=${limit}`,
                  "starting_after",
                  admins.owner.key,
                  nothingBetween
                )
                expect(pages.slice(0, -1).every((page) => page.length === limit)).toBe(true)
                orders.add(ids(pages.flat()).join())
                expect(pages.flat().map(key)).toEqual(pages.flat().map(key).toSorted(compare))
                expect(new Set(ids(pages.flat())).size).toBe(count)
              }
              expect(orders.size).toBe(1)
            }
            yield* TestClock.adjust("61 seconds")
            let more = 0
            const pages = yield* walk("/v1/admins?limit=3", "starting_after", admins.owner.key, () =>
              World.makePerson(id, "billing", { email: `${more++ % 2 === 0 ? "!" : "~~"}${more}@x.example` }))
            const seen = ids(pages.flat())
            expect(new Set(seen).size).toBe(seen.length)
            expect(seen.length).toBeGreaterThanOrEqual(10)
          }),
        drawnOn(on, 4)
      )

      it.effect.prop(
        "S4.7-10: for granted accounts alone has_more counts what the admin reaches",
        { names: listed, granted: Random.between(0, 14), limit: Random.between(1, 6) },
        ({ granted, limit, names }) =>
          Effect.gen(function*() {
            const { admins, id } = yield* World.makeOrganization()
            const made = yield* makeAccounts(id, names)
            const reached = made.filter((_, index) => index * 7 % 15 < granted)
            yield* World.grant(id, admins.archive.id, { accounts: reached })
            const pages = yield* walk(
              `/v1/accounts?limit=${limit}`,
              "starting_after",
              admins.archive.key,
              nothingBetween
            )
            expect(ids(pages.flat()).toSorted()).toEqual([...reached].sort())
            expect(pages.length).toBe(Math.max(1, Math.ceil(reached.length / limit)))
          }),
        drawnOn(on, 8)
      )

      it.effect.prop(
        "nothing is lost or repeated among accounts that keep their names while others come, go and are renamed",
        {
          names: listed,
          limit: Random.between(1, 4),
          events: Arbitrary.array(Arbitrary.all({ name, place: Random.between(0, 99), kind: Random.between(0, 2) }), {
            minLength: 4,
            maxLength: 14
          })
        },
        ({ events, limit, names }) =>
          Effect.gen(function*() {
            const { admins, id } = yield* World.makeOrganization()
            const made = yield* makeAccounts(id, names)
            const restless = new Set<string>()
            const left = [...events]
            const disturb = (seen: ReadonlyArray<any>) =>
              Effect.gen(function*() {
                const event = left.shift()
                if (event === undefined) return
                const cursor = seen.at(-1)?.id
                const target = made[event.place % made.length]
                if (event.kind === 0 || target === undefined || target === cursor) {
                  restless.add(yield* World.makeAccount(id, { first_name: event.name, last_name: null }))
                } else {
                  restless.add(target)
                  yield* World.query(id, (sql) =>
                    event.kind === 1
                      ? sql`delete from account where organization_id = ${id} and id = ${target} returning id`
                      : sql`update account set first_name = ${event.name}, name_key = ${
                        folded({ name: event.name ?? "~" })
                      }
                          where organization_id = ${id} and id = ${target} returning id`)
                }
              })
            const pages = yield* walk(`/v1/accounts?limit=${limit}`, "starting_after", admins.owner.key, disturb)
            const steady = ids(pages.flat()).filter((account) => !restless.has(account))
            expect(steady.toSorted()).toEqual(made.filter((account) => !restless.has(account)).sort())
            expect(new Set(steady).size).toBe(steady.length)
          }),
        drawnOn(on, 10)
      )

      it.effect.prop(
        "S4.15-04: pages of the journal give every event once, newest first, though it grows meanwhile",
        { length: Random.between(0, 14), limit: Random.between(1, 16), grows: Random.pickOf(true, false) },
        ({ grows, length, limit }) =>
          Effect.gen(function*() {
            const { admins, id } = yield* World.makeOrganization()
            const account = yield* World.makeAccount(id)
            let labels = 0
            const label = Effect.suspend(() => {
              labels += 1
              return World.put(`/v1/accounts/${account}/role-label`, admins.owner.key, {
                role_label: `Label ${labels}`
              })
            })
            for (let number = 0; number < length; number++) yield* label
            const pages = yield* walk(
              `/v1/journal?limit=${limit}`,
              "before_id",
              admins.superadmin.key,
              () => grows ? label : Effect.void
            )
            const sequences = pages.flat().map(({ sequence }) => sequence)
            expect(sequences).toEqual(Array.from({ length }, (_, index) => length - index))
            expect(pages.slice(0, -1).every((page) => page.length === limit)).toBe(true)
          }),
        drawnOn(on, 8)
      )
    })
  })
})
