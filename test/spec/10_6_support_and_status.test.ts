import { describe, expect, layer } from "@effect/vitest"
import { Effect, Layer } from "effect"
import { TestClock } from "effect/testing"
import * as crypto from "node:crypto"
import { BillingPages } from "../../src/ports/organization/StatusOverview.ts"
import * as Outbox from "../support/mail/outbox.ts"
import * as Populated from "../support/populated.ts"
import { forSpecification } from "../support/postgres/database.ts"
import * as World from "../support/world.ts"

const path = "/v1/support-requests"
const asked = { category: "api", subject: "A limit", message: "May we send more?\nEvery night." }

const ask = (key: World.Asking["key"], body: object = asked) =>
  World.send("POST", path, { ...(key === undefined ? {} : { key }), body })

/** Every account that the key reaches, as the list shows it. */
const listed = (key: NonNullable<World.Asking["key"]>) =>
  Effect.map(World.get("/v1/accounts?limit=100", key), ({ body }) => body.data as ReadonlyArray<any>)

const tally = (names: ReadonlyArray<string | null>) =>
  names.reduce<Record<string, number>>(
    (all, name) => name === null ? all : { ...all, [name]: (all[name] ?? 0) + 1 },
    {}
  )

const nonZero = (counts: Record<string, number>) =>
  Object.fromEntries(Object.entries(counts).filter(([, count]) => count > 0))

describe("10.6 Operations beyond chapter 4: support, subscription, status", () => {
  forSpecification((_, database) => {
    layer(World.world(database))((it) => {
      it.effect("create_support_request numbers requests, mails the text to the support, and journals none of it", () =>
        Effect.gen(function*() {
          const { admins, id } = yield* World.makeOrganization()
          const account = yield* World.makeAccount(id)
          for (const number of [1, 2]) {
            const { body } = yield* ask(admins.owner.key, {
              ...asked,
              account_id: account,
              related_request_id: "req_1"
            })
            expect(body).toMatchObject({
              number,
              ...asked,
              account_id: account,
              related_request_id: "req_1",
              state: "open"
            })
          }
          const mails = yield* Outbox.waiting(id)
          expect(mails.map(({ kind, recipient }) => [kind, recipient])).toEqual([
            ["support_request", "support@console.test"],
            ["support_request", "support@console.test"]
          ])
          expect(mails[0]?.subject).toContain(`${id} #1`)
          expect(mails[0]?.text).toContain(asked.message)
          const journal = JSON.stringify(yield* World.journal(id))
          expect(journal).toContain("support_request.created")
          expect(journal).not.toContain("May we send more")
        }))

      it.effect("list and get show an admin their own requests, and owner and superadmin all, newest first", () =>
        Effect.gen(function*() {
          const { admins } = yield* World.makeOrganization()
          const ids: Record<string, string> = {}
          for (const [role, { key }] of Object.entries(admins)) ids[role] = (yield* ask(key)).body.id
          for (const [role, { key }] of Object.entries(admins)) {
            const all = role === "owner" || role === "superadmin"
            const seen = (yield* World.get(path, key)).body.data.map((each: any) => each.id)
            expect(seen).toEqual(all ? Object.values(ids).toReversed() : [ids[role]])
            for (const id of Object.values(ids)) {
              const answer = yield* World.get(`${path}/${id}`, key)
              expect(answer.status).toBe(all || id === ids[role] ? 200 : 404)
            }
          }
          const { body } = yield* World.get(`${path}?limit=2&starting_after=${ids["archive"]}`, admins.owner.key)
          expect([body.data.map((each: any) => each.id), body.has_more]).toEqual([[ids["billing"], ids["admin"]], true])
          const unknown = yield* World.get(`${path}?starting_after=${ids["owner"]}`, admins.billing.key)
          expect(World.refusal(unknown)).toEqual([400, "parameter_invalid", "starting_after"])
        }))

      it.effect("create_support_request names no account that the caller cannot access, and wants text of one line", () =>
        Effect.gen(function*() {
          const { admins, id } = yield* World.makeOrganization()
          const account = yield* World.makeAccount(id)
          for (const account_id of [account, crypto.randomUUID()]) {
            expect(World.refusal(yield* ask(admins.admin.key, { ...asked, account_id }))).toEqual(
              [404, "resource_missing", "account_id"]
            )
          }
          for (
            const [name, value] of [
              ["subject", "a\nb"],
              ["subject", " "],
              ["subject", "a".repeat(151)],
              ["message", ""],
              [
                "message",
                "a".repeat(5001)
              ],
              ["category", "else"],
              ["related_request_id", "a".repeat(65)]
            ]
          ) {
            expect(World.refusal(yield* ask(admins.admin.key, { ...asked, [name!]: value }))).toEqual(
              [400, "parameter_invalid", name]
            )
          }
          expect((yield* World.get(path, admins.owner.key)).body.data).toEqual([])
        }))

      it.effect("an admin asks 20 times in 24 hours, and others go on", () =>
        Effect.gen(function*() {
          const { admins } = yield* World.makeOrganization()
          for (let number = 1; number <= 20; number++) expect((yield* ask(admins.admin.key)).status).toBe(200)
          const refused = yield* ask(admins.admin.key)
          expect(World.refusal(refused)).toEqual([429, "too_many_attempts"])
          expect(Number(refused.headers.get("retry-after"))).toBe(24 * 3600)
          expect((yield* ask(admins.billing.key)).body.number).toBe(21)
          yield* TestClock.adjust("24 hours")
          expect((yield* ask(admins.admin.key)).status).toBe(200)
        }))

      it.effect("an answered request closes after 30 days", () =>
        Effect.gen(function*() {
          const { admins, id } = yield* World.makeOrganization()
          const { body } = yield* ask(admins.owner.key)
          const at = new Date(Date.parse(body.created_at))
          yield* World.query(id, (sql) =>
            sql`update support_request set state = 'answered', answer = 'Yes.', answered_at = ${at}`)
          expect((yield* World.get(`${path}/${body.id}`, admins.owner.key)).body.state).toBe("answered")
          yield* TestClock.adjust("30 days")
          expect((yield* World.get(`${path}/${body.id}`, admins.owner.key)).body.state).toBe("closed")
        }))

      it.effect("S4.1-04: get_status counts what the list of accounts shows, for every role", () =>
        Effect.gen(function*() {
          const { admins } = yield* Populated.make()
          for (const { key } of Object.values(admins)) {
            const accounts = yield* listed(key)
            const { protection, saving } = (yield* World.get("/v1/status", key)).body
            expect(nonZero(protection.accounts)).toEqual(tally(accounts.map(({ status }) => status)))
            const states = accounts.map(({ archive }) => archive.saving)
            expect(nonZero(saving.reasons)).toEqual(tally(states.map(({ reason }) => reason)))
            expect(nonZero({ saving: saving.saving, stopped: saving.stopped, check: saving.check })).toEqual(
              tally(states.map(({ state }) => state))
            )
          }
          const { body } = yield* World.get("/v1/status", admins.owner.key)
          expect(body.protection).toMatchObject({ state: "attention", sessions_to_review: 1, unheard: false })
          expect(body.journal).toMatchObject({ chain_checked_at: null, chain_ok: null })
        }))

      it.effect("get_status says that nobody hears of takeovers, and that mail does not leave", () =>
        Effect.gen(function*() {
          const { admins, id } = yield* World.makeOrganization({ notification_recipients: "owner_superadmins" })
          const status = Effect.map(World.get("/v1/status", admins.billing.key), ({ body }) => body)
          expect((yield* status).protection).toMatchObject({ state: "ok", unheard: false })
          yield* World.set(id, "admin", admins.owner.id, { mail_security: false })
          expect((yield* status).protection.unheard).toBe(false)
          yield* World.set(id, "admin", admins.superadmin.id, { disabled_at: new Date(0) })
          expect((yield* status).protection).toMatchObject({ state: "attention", unheard: true })
          yield* ask(admins.billing.key)
          expect((yield* status).service).toEqual({ state: "ok", message: null })
          yield* TestClock.adjust("16 minutes")
          expect((yield* status).service.state).toBe("degraded")
        }))

      it.effect("get_status counts what archives lacked of the accounts that the admin can access", () =>
        Effect.gen(function*() {
          const { admins, id } = yield* World.makeOrganization()
          const one = yield* World.makeAccount(id, { facts: { archive_drift: 3 } })
          yield* World.makeAccount(id, { facts: { archive_drift: 4 } })
          yield* World.makeAccount(id, { facts: { archive_drift: 5, offboarded_at: new Date(0) } })
          yield* World.grant(id, admins.admin.id, { accounts: [one] })
          const drift = (key: NonNullable<World.Asking["key"]>) =>
            Effect.map(World.get("/v1/status", key), ({ body }) => body.saving.drift)
          expect(yield* drift(admins.owner.key)).toBe(7)
          expect(yield* drift(admins.admin.key)).toBe(3)
        }))

      it.effect("S4.1-04: get_subscription shows what is paid to those who can access every account alone", () =>
        Effect.gen(function*() {
          const { admins } = yield* World.makeOrganization({
            amount_minor: 129_900,
            currency: "EUR",
            payer_email: "pay@example.com",
            next_invoice_at: new Date(0),
            cancel_at: new Date(1000)
          })
          for (const [role, { key }] of Object.entries(admins)) {
            const { amount, cancel_at, currency, next_invoice_at, payer_email } =
              (yield* World.get("/v1/subscription", key)).body
            const paid = role !== "admin" && role !== "archive"
            expect([role, amount, currency, payer_email, next_invoice_at, cancel_at]).toEqual([
              role,
              ...(paid ? [129_900, "EUR", "pay@example.com", "1970-01-01T00:00:00.000Z"] : [null, null, null, null]),
              "1970-01-01T00:00:01.000Z"
            ])
          }
        }))
    })

    layer(
      World.world(database).pipe(Layer.provideMerge(Layer.succeed(BillingPages, [{
        name: "invoices",
        url: "https://pay.example/invoices"
      }])))
    )((it) => {
      it.effect("S1-20: get_billing_links answers the addresses of the configured pages, and nothing else", () =>
        Effect.gen(function*() {
          const { admins } = yield* World.makeOrganization()
          expect((yield* World.get("/v1/billing-links", admins.billing.key)).body).toEqual({
            object: "billing_links",
            links: [{ name: "invoices", url: "https://pay.example/invoices" }]
          })
        }))
    })
  })
})
