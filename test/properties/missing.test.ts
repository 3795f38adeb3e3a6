import { describe, expect, layer } from "@effect/vitest"
import { Effect, Redacted } from "effect"
import { TestClock } from "effect/testing"
import { seesDevices } from "../../src/domain/people/Access.ts"
import type * as Operation from "../../src/kernel/Operation.ts"
import * as Provisioning from "../../src/layers/sql/Provisioning.ts"
import { setAdminRole } from "../../src/operations/people/set_admin_role.ts"
import { operations } from "../added/index.ts"
import { archivedIds } from "../support/archive/sealedChats.ts"
import { ask, inputOf, requestOf } from "../support/http/requests.ts"
import * as Populated from "../support/populated.ts"
import { asOwner, postgres } from "../support/postgres/database.ts"
import { outline } from "../support/postgres/plans.ts"
import { recording, type Said } from "../support/postgres/statements.ts"
import { type IdKind, idKindOf, type Ids } from "../support/random.ts"
import * as World from "../support/world.ts"

const kindOf = (operation: Operation.Any, name: string): IdKind => {
  const kind = idKindOf(operation, name)
  if (kind === undefined) throw new Error(`${operation.id}: nothing is known of what ${name} names`)
  return kind
}

/** Every id in the path of an operation. */
const named = operations.flatMap((operation: Operation.Any) =>
  Object.keys(operation.params).map((name) => ({ operation, name, kind: kindOf(operation, name) }))
)

/** The roles that are granted some accounts, and one that has access to everything. */
const roles = ["admin", "archive", "owner"] as const
type Asker = typeof roles[number]

/**
 * What the organization has of a kind and the role has no access to; what everybody may see, or no path names, has
 * none.
 */
const ungranted = (own: Populated.Populated, role: Exclude<Asker, "owner">) =>
  Effect.map(
    World.query<{ id: string }>(own.id, (sql) =>
      sql`select id from journal_event where organization_id = ${own.id} and actor_admin_id <> ${own.admins[role].id}
        and (account_id is null or not ${sql.in("account_id", own.granted)})`),
    (events): Ids => ({
      account: own.ids.account.filter((id) =>
        !own.granted.includes(id)
      ),
      event: events.map(({ id }) => id),
      department: [],
      admin: [],
      person: own.ids.person,
      credential: [],
      key: [own.admins.owner.keyId],
      connection: role === "admin" ? [] : own.ids.connection,
      request: own.ids.request,
      // Another account's.
      session: ["5"],
      record: [],
      login: own.ids.login,
      chat: [],
      message: [],
      member: [],
      file: [],
      rule: own.ids.rule,
      hold: own.ids.hold,
      cleanup: own.ids.cleanup,
      export: own.ids.export
    })
  )

/** The headers that say nothing of the request but which it was, and how many there were. */
const counters = new Set(["request-id", "ratelimit-remaining", "ratelimit-reset"])

const summaryOf = (answer: World.Answer) => ({
  status: answer.status,
  body: answer.body,
  headers: [...answer.headers].filter(([name]) => !counters.has(name))
})

describe("7 objects that do not exist for the caller", () => {
  layer(World.world(postgres))((it) => {
    it.effect(
      "S4.7-11, S4.8-02, S4.9-02, S4.10-07, S4.11-03, S4.12-03, S4.13-05, S4.14-06, S5.4-01, S7-08: another organization's, an ungranted and a non-existent id get one answer, by one plan",
      () =>
        Effect.gen(function*() {
          const own = yield* Populated.make()
          const other = yield* Populated.make()
          yield* World.set(own.id, "admin", own.admins.admin.id, { archive_access: true })
          const { current_password } = setAdminRole.sample.request
          yield* Provisioning.password(own.id, own.admins.owner.id, Redacted.make(String(current_password)))
          yield* asOwner((sql) => sql`analyze account`)
          const [ada] = other.live
          yield* World.addRows("session", other.id, [{ account_id: ada?.id, id: "7", seen_at: new Date(0) }])
          const [chat = ""] = archivedIds.chat
          yield* World.query<object>(other.id, (sql) =>
            sql`insert into archive_chat (organization_id, account_id, chat_id, type)
              values (${other.id}, ${ada?.id}, ${chat}, 'group')`)
          const foreign: Ids = { ...other.ids, session: ["7"], chat: archivedIds.chat, message: archivedIds.message }
          const there = Object.fromEntries(Object.entries(own.ids).map(([kind, [id]]) => [kind, id]))
          for (const role of roles) {
            const hidden = role === "owner" ? undefined : yield* ungranted(own, role)
            for (const { kind, name, operation } of named) {
              // Whoever has access to everything is asked for where the others may not call it at all.
              if (role === "owner" && operation.roles.includes("admin")) {
                continue
              }
              yield* TestClock.adjust("6 seconds")
              const ids = [foreign[kind][0], Populated.nothing[kind][0], hidden?.[kind][0]].filter((id) =>
                id !== undefined
              )
              // The first request opens the archive, and what it opens stays open for those after it.
              if (operation.kind === "unlocked" || operation.kind === "rewrite") {
                const input = inputOf(operation, { ...there, session: "2", [kind]: ids[0] })
                yield* ask(requestOf(operation, input), own.admins[role].key)
              }
              const asked = yield* Effect.forEach(ids, (id) =>
                Effect.gen(function*() {
                  const input = inputOf(operation, { ...there, session: "2", [kind]: id })
                  const { answer, said } = yield* recording(ask(requestOf(operation, input), own.admins[role].key))
                  const inside = said.filter(({ inTransaction }) =>
                    inTransaction
                  )
                  return {
                    summary: summaryOf(answer),
                    said: said.map(({ sql }) => sql).filter((sql) => !sql.startsWith("update api_key")),
                    plans: yield* Effect.forEach(inside, (statement) => outline(own.id, statement))
                  }
                }))
              const which = `${operation.id} by ${role}, ${name}`
              const allowed = operation.roles.includes(role)
              expect(asked[0]?.summary.status, which).toBe(allowed ? 404 : 403)
              if (allowed) expect(asked[0]?.summary.body.error, which).toMatchObject({ param: name })
              if (!allowed || kind === "account" || kind === "event") {
                // Whoever signs in holds the organization first.
                const held = operation.kind === "login" ? 1 : 0
                const beside = operation.id === "get_account" && seesDevices(role) ? 2 : 0
                const key = operation.kind === "unlocked" || operation.kind === "rewrite" ? 1 : 0
                expect(asked[0]?.said.length, which).toBe(allowed ? 2 + beside + held + key : 1)
              }
              expect(asked[0]?.plans.flat().length, which).toBeGreaterThanOrEqual(allowed ? 3 : 0)
              expect(asked[1], `${which}, non-existent`).toEqual(asked[0])
              if (asked.length > 2) expect(asked[2], `${which}, ungranted`).toEqual(asked[0])
            }
          }
        })
    )

    it.effect("an id that the caller does reach is answered by the same statements", () =>
      Effect.gen(function*() {
        const own = yield* Populated.make()
        const ask = (id: string | undefined) => recording(World.get(`/v1/accounts/${id}`, own.admins.admin.key))
        const reached = yield* ask(own.granted[0])
        const missing = yield* ask(Populated.nothing.account[0])
        expect([reached.answer.status, missing.answer.status]).toEqual([200, 404])
        const inside = (said: ReadonlyArray<Said>) =>
          said.filter(({ inTransaction }) => inTransaction).map(({ sql }) => sql)
        expect(inside(missing.said).length).toBe(3)
        expect(inside(reached.said)).toEqual(inside(missing.said))
      }))

    it.effect("S4.7-07: a cursor that is another organization's, ungranted or non-existent is refused alike", () =>
      Effect.gen(function*() {
        const own = yield* Populated.make()
        const other = yield* Populated.make()
        const ungranted = own.ids.account.find((id) => !own.granted.includes(id))
        const cursors = [other.ids.account[0], ungranted, Populated.nothing.account[0]]
        const answers = yield* Effect.forEach(cursors, (id) =>
          Effect.map(
            recording(World.get(`/v1/accounts?starting_after=${id}`, own.admins.archive.key)),
            ({ answer, said }) => ({
              summary: summaryOf(answer),
              said: said.map(({ sql }) => sql).filter((sql) => !sql.startsWith("update api_key"))
            })
          ))
        expect(answers[0]?.summary.body.error).toMatchObject({ code: "parameter_invalid", param: "starting_after" })
        expect(answers[1]).toEqual(answers[0])
        expect(answers[2]).toEqual(answers[0])
      }))
  })
})
