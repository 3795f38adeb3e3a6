import { describe, expect, layer } from "@effect/vitest"
import { Effect } from "effect"
import type { JournalEntry } from "../../src/domain/journal/JournalEntry.ts"
import { OrganizationId, type Role } from "../../src/domain/people/Access.ts"
import { Journal } from "../../src/ports/journal/Journal.ts"
import * as Fixtures from "../support/fixtures.ts"
import { forSpecification } from "../support/postgres/database.ts"
import * as World from "../support/world.ts"

const choices = { security: false, storage: false, news: false, offers: false }

const append = (organizationId: string, entry: Partial<JournalEntry>) =>
  Fixtures.within(
    organizationId,
    Effect.flatMap(Journal, (journal) =>
      journal.append(OrganizationId.make(organizationId), {
        action: "session.detected",
        outcome: "done",
        actor: { type: "service", admin_id: null, name: null },
        credential: null,
        via: "background",
        account_id: null,
        target: null,
        details: {},
        ip: null,
        request_id: null,
        closes: null,
        ...entry
      }))
  )

/** Acts of every admin, and of the service, on accounts that some reach and on what is not an account. */
const make = Effect.gen(function*() {
  const organization = yield* World.makeOrganization()
  const { admins, id } = organization
  const department = yield* World.makeDepartment(id)
  const accounts = {
    direct: yield* World.makeAccount(id),
    filed: yield* World.makeAccount(id, { facts: { department_id: department } }),
    hidden: yield* World.makeAccount(id)
  }
  for (const role of ["admin", "archive"] as const) {
    yield* World.grant(id, admins[role].id, { accounts: [accounts.direct], departments: [department] })
  }
  for (const account of Object.values(accounts)) {
    yield* World.put(`/v1/accounts/${account}/role-label`, admins.owner.key, { role_label: "x" })
    yield* append(id, { account_id: account, target: { type: "account", id: account } })
  }
  for (const { key } of Object.values(admins)) yield* World.put("/v1/me/mail-preferences", key, choices)
  yield* World.put("/v1/settings/notifications", admins.owner.key, { recipients: "owner_superadmins" })
  for (
    const action of ["organization.renamed", "subscription.changed", "billing.payment_failed", "organizations.other"]
  ) {
    yield* append(id, { action })
  }
  const events = yield* World.journal(id)
  return { organization, admins, accounts, events }
})

describe("4.15 who sees what of the journal", () => {
  forSpecification((_, database) => {
    layer(World.world(database))((it) => {
      it.effect("owner and superadmins see every event, the other roles what they reach and their own acts, listed and alone", () =>
        Effect.gen(function*() {
          const { accounts, admins, events } = yield* make
          const reached: ReadonlyArray<string | null> = [accounts.direct, accounts.filed]
          const seen: Record<Role, (event: World.StoredEvent) => boolean> = {
            owner: () => true,
            superadmin: () => true,
            admin: (event) => event.actor_admin_id === admins.admin.id || reached.includes(event.account_id),
            archive: (event) => event.actor_admin_id === admins.archive.id || reached.includes(event.account_id),
            billing: (event) =>
              event.actor_admin_id === admins.billing.id ||
              /^(?:organization|subscription|billing)\./.test(event.action)
          }
          const count = { owner: 16, superadmin: 16, admin: 5, archive: 5, billing: 4 }
          for (const [role, { key }] of Object.entries(admins) as Array<[Role, World.Person]>) {
            const visible = events.filter(seen[role])
            expect([role, visible.length]).toEqual([role, count[role]])
            const { body } = yield* World.get("/v1/journal", key)
            expect(body.data.map((event: any) => event.sequence)).toEqual(
              visible.map(({ sequence }) => sequence).toReversed()
            )
            expect([role, body.last_sequence]).toEqual([role, events.length])
            for (const event of events) {
              const single = yield* World.get(`/v1/journal/${event.id}`, key)
              if (visible.includes(event)) expect([role, single.status, single.body.id]).toEqual([role, 200, event.id])
              else expect([role, ...World.refusal(single)]).toEqual([role, 404, "resource_missing", "event_id"])
            }
          }
        }))

      it.effect("what is done to the archive of one account concerns that account, and nobody who cannot access it", () =>
        Effect.gen(function*() {
          const { accounts, admins, events } = yield* make
          const { key } = admins.owner
          const makeRule = (target: object, chat_type: string) =>
            World.send("POST", "/v1/archive/rules", {
              key,
              body: { target, selector: { chat_type, chat_id: null }, effect: "skip" }
            })
          const named = [[accounts.direct], [accounts.hidden], [accounts.direct, accounts.hidden]]
          for (const account_ids of named) {
            yield* World.send("POST", "/v1/archive/holds", { key, body: { name: "Case", account_ids } })
            yield* makeRule({ level: "account", id: account_ids.at(-1) }, account_ids.length === 1 ? "bot" : "group")
          }
          yield* makeRule({ level: "organization", id: null }, "bot")
          const seenBy = (reader: World.Person["key"]) =>
            Effect.map(
              World.get("/v1/journal", reader),
              ({ body }) =>
                body.data.filter(({ sequence }: any) => sequence > events.length).map(({ account_id, action }: any) => [
                  action,
                  account_id
                ]).toReversed()
            )
          expect(yield* seenBy(key)).toEqual([
            ["archive_hold.placed", accounts.direct],
            ["archive_rule.created", accounts.direct],
            ["archive_hold.placed", accounts.hidden],
            ["archive_rule.created", accounts.hidden],
            ["archive_hold.placed", null],
            ["archive_rule.created", accounts.hidden],
            ["archive_rule.created", null]
          ])
          expect(yield* seenBy(admins.admin.key)).toEqual([
            ["archive_hold.placed", accounts.direct],
            ["archive_rule.created", accounts.direct]
          ])
        }))

      it.effect("a page holds only what is visible, and an invisible before_id is refused like an unknown one", () =>
        Effect.gen(function*() {
          const { admins, events, organization } = yield* make
          for (const role of ["admin", "billing"] as const) {
            const { key } = yield* World.makeKey(organization.id, admins[role].id)
            const all = (yield* World.get("/v1/journal", key)).body.data
            const walked: Array<number> = []
            let before = ""
            while (true) {
              const { body } = yield* World.get(`/v1/journal?limit=1${before}`, key)
              walked.push(...body.data.map((event: any) => event.sequence))
              if (!body.has_more) break
              before = `&before_id=${body.data[0].id}`
            }
            expect(walked).toEqual(all.map((event: any) => event.sequence))
            for (const { id, sequence } of events) {
              const answer = yield* World.get(`/v1/journal?before_id=${id}`, key)
              expect([sequence, answer.status]).toEqual([sequence, walked.includes(sequence) ? 200 : 400])
            }
          }
        }))

      it.effect("what an admin sees follows the grants at the request, and an event of an account that moved moves with it", () =>
        Effect.gen(function*() {
          const { accounts, admins, events, organization } = yield* make
          const hidden = events.filter(({ account_id }) => account_id === accounts.hidden)
          expect(hidden).toHaveLength(2)
          const sees = Effect.map(
            World.get(`/v1/journal?account_id=${accounts.hidden}`, admins.admin.key),
            ({ body }) => body.data.length
          )
          expect(yield* sees).toBe(0)
          yield* World.grant(organization.id, admins.admin.id, { accounts: [accounts.hidden] })
          expect(yield* sees).toBe(2)
          yield* World.query(
            organization.id,
            (sql) => sql`delete from admin_account where account_id = ${accounts.hidden}`
          )
          expect(yield* sees).toBe(0)
          yield* World.set(organization.id, "account", accounts.hidden, {
            department_id: (yield* World.query<{ id: string }>(organization.id, (sql) =>
              sql`select id from department where organization_id = ${organization.id}`))[0]!.id
          })
          expect(yield* sees).toBe(2)
        }))

      it.effect("each filter gives exactly the events it names, and together they narrow", () =>
        Effect.gen(function*() {
          const { accounts, admins, events, organization } = yield* make
          yield* append(organization.id, {
            action: "account.disconnected",
            outcome: "failed",
            account_id: accounts.direct
          })
          yield* append(organization.id, { action: "profile.updated", outcome: "pending", account_id: accounts.direct })
          yield* append(organization.id, { action: "profile.updated", outcome: "refused" })
          const all = yield* World.journal(organization.id)
          expect(all.length).toBe(events.length + 3)
          const { key } = yield* World.makeKey(organization.id, admins.owner.id)
          const filters: ReadonlyArray<readonly [string, (event: World.StoredEvent) => boolean]> = [
            [`account_id=${accounts.direct}`, (event) => event.account_id === accounts.direct],
            [`account_id=${accounts.direct.toUpperCase()}`, (event) => event.account_id === accounts.direct],
            [`admin_id=${admins.owner.id}`, (event) => event.actor_admin_id === admins.owner.id],
            [`credential_id=${admins.billing.keyId}`, (event) => event.credential_id === admins.billing.keyId],
            ["action=account.role_label_set", (event) => event.action === "account.role_label_set"],
            ["action=account.*", (event) => event.action.startsWith("account.")],
            ["action=mail_preferences.*", (event) => event.action === "mail_preferences.set"],
            ["action=organization.*", (event) => event.action === "organization.renamed"],
            ...["done", "failed", "pending", "refused"].map((outcome) =>
              [`outcome=${outcome}`, (event: World.StoredEvent) => event.outcome === outcome] as const
            )
          ]
          for (const [query, holds] of filters) {
            const { body } = yield* World.get(`/v1/journal?${query}`, key)
            const wanted = all.filter(holds).map(({ sequence }) => sequence).toReversed()
            expect([query, wanted.length > 0 && wanted.length < all.length]).toEqual([query, true])
            expect([query, body.data.map((event: any) => event.sequence)]).toEqual([query, wanted])
            expect(body.last_sequence).toBe(all.length)
          }
          for (const [query, holds] of filters) {
            const [other, also] = filters[0]!
            if (query.startsWith("account_id")) continue
            const { body } = yield* World.get(`/v1/journal?${query}&${other}`, key)
            const wanted = all.filter((event) => holds(event) && also(event)).map(({ sequence }) => sequence)
              .toReversed()
            expect([query, body.data.map((event: any) => event.sequence)]).toEqual([query, wanted])
          }
        }))

      it.effect("a filter that names nothing gives nothing, one that is malformed is refused by its name", () =>
        Effect.gen(function*() {
          const { admins } = yield* make
          const unknown = "00000000-0000-4000-8000-000000000000"
          for (
            const query of [
              `account_id=${unknown}`,
              `admin_id=${unknown}`,
              `credential_id=${unknown}`,
              "action=nothing.done",
              "action=account_.*"
            ]
          ) {
            const { body } = yield* World.get(`/v1/journal?${query}`, admins.owner.key)
            expect([query, body.data, body.has_more]).toEqual([query, [], false])
          }
          for (
            const query of [
              "account_id=1",
              "admin_id=",
              "credential_id=x",
              "action=",
              "action=account",
              "action=*",
              "action=account.%25",
              "action=*.set",
              "action=Account.paused",
              "outcome=ok",
              "outcome=",
              "outcome=done&outcome=done"
            ]
          ) {
            const answer = yield* World.get(`/v1/journal?${query}`, admins.owner.key)
            expect([query, ...World.refusal(answer)]).toEqual([query, 400, "parameter_invalid", query.split("=")[0]])
          }
        }))
    })
  })
})
