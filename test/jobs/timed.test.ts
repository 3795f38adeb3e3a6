import { assert, describe, layer } from "@effect/vitest"
import { Clock, Effect, Layer, Redacted } from "effect"
import { TestClock } from "effect/testing"
import { tellKeyExpiry } from "../../src/jobs/credentials/tell_key_expiry.ts"
import { checkJournals } from "../../src/jobs/journal/check_journals.ts"
import * as LicenceStops from "../../src/jobs/organization/LicenceStops.ts"
import { settleLicences } from "../../src/jobs/organization/settle_licences.ts"
import { expireTakeoverLocks } from "../../src/jobs/protection/expire_takeover_locks.ts"
import * as ChainChecks from "../../src/layers/sql/journal/ChainChecks.ts"
import * as Worker from "../../src/layers/Worker.ts"
import { waiting } from "../support/mail/outbox.ts"
import { metric } from "../support/metrics.ts"
import { asOwner, postgres } from "../support/postgres/database.ts"
import { arrange, makeWatched, start } from "../support/protection/watched.ts"
import { jump } from "../support/protection/watching.ts"
import * as World from "../support/world.ts"

const hour = 3_600_000

const written = (organization: string, prefix: string) =>
  Effect.map(
    World.journal(organization),
    (all) =>
      all.filter(({ action }) => action.startsWith(prefix)).map(({ action, target_type }) => `${action} ${target_type}`)
  )

const mails = (organization: string) => Effect.map(waiting(organization), (all) => all.map(({ kind }) => kind))

const licensed = (id: string, state: "active" | "lapsed") =>
  World.set(id, "organization", id, { managed: true, billing_state: state, valid_until: null })

describe("what time ends by itself", () => {
  layer(Worker.layer().pipe(Layer.provideMerge(World.world(postgres))))((it) => {
    it.effect("a takeover's lock ends after 48 hours, which is reported once, on paused accounts too", () =>
      Effect.gen(function*() {
        const { account, admins, done, id, platform, read, stranger, userId } = yield* arrange()
        yield* jump("1 minute")
        yield* stranger
        yield* jump("72 seconds")
        yield* platform.changeSecurity(userId, { two_fa_password: Redacted.make("the thief's") })
        yield* jump("72 seconds")
        assert.isNotNull((yield* read).tamper.locked_at)
        yield* World.post(`/v1/accounts/${account}/pause`, admins.owner.key)
        yield* TestClock.adjust(48 * hour - 1)
        assert.strictEqual(yield* expireTakeoverLocks.run, 0)
        yield* TestClock.adjust(1)
        yield* World.set(id, "organization", id, { closed_at: new Date(start) })
        assert.strictEqual(yield* expireTakeoverLocks.run, 0)
        yield* World.set(id, "organization", id, { closed_at: null })
        assert.strictEqual(yield* expireTakeoverLocks.run, 1)
        assert.strictEqual(yield* expireTakeoverLocks.run, 0)
        assert.deepStrictEqual((yield* read).tamper, { locked_at: null, reason: null })
        assert.lengthOf((yield* done).filter((action) => action === "takeover.lock_expired"), 1)
      }))

    it.effect("a licence that ends stops protection, a resume does not bring it back, and a new licence does", () =>
      Effect.gen(function*() {
        const { account, admins, id, read, stranger } = yield* arrange({
          managed: false,
          billing_state: "none",
          valid_until: new Date(start + hour)
        })
        yield* jump("1 minute")
        assert.strictEqual(yield* LicenceStops.applyLicences, 0)
        yield* TestClock.adjust("1 hour")
        assert.strictEqual(yield* LicenceStops.applyLicences, 1)
        assert.strictEqual(yield* LicenceStops.applyLicences, 0)
        const stopped = yield* read
        assert.deepStrictEqual([stopped.status, stopped.monitoring.state], ["protection_stopped", "stopped"])
        assert.deepStrictEqual(yield* mails(id), ["protection_stopped"])
        yield* stranger
        yield* jump("1 hour")
        assert.deepStrictEqual(
          (yield* read).sessions.filter((session: any) => session.device_model === "Pixel 9"),
          []
        )

        yield* World.post(`/v1/accounts/${account}/pause`, admins.owner.key)
        yield* World.post(`/v1/accounts/${account}/resume`, admins.owner.key)
        yield* LicenceStops.applyLicences
        assert.strictEqual((yield* read).status, "protection_stopped")
        assert.deepStrictEqual(yield* mails(id), ["protection_stopped"])

        yield* licensed(id, "active")
        assert.strictEqual(yield* LicenceStops.applyLicences, 1)
        yield* jump("1 second")
        assert.strictEqual((yield* read).status, "new_sign_in")
        assert.deepStrictEqual(yield* written(id, "protection."), [
          "protection.stopped account",
          "protection.stopped account",
          "protection.restored account"
        ])
      }))

    it.effect("what is paused or lost stays so when the licence is back, and nobody hears of a closed organization", () =>
      Effect.gen(function*() {
        const { account, admins, id, read, revoke, sessionRef } = yield* arrange()
        yield* jump("1 minute")
        yield* World.post(`/v1/accounts/${account}/pause`, admins.owner.key)
        yield* World.set(id, "organization", id, { closed_at: new Date(start) })
        assert.strictEqual(yield* LicenceStops.applyLicences, 1)
        yield* World.set(id, "organization", id, { closed_at: null })
        assert.strictEqual((yield* read).status, "paused")
        assert.strictEqual(yield* LicenceStops.applyLicences, 1)
        assert.deepStrictEqual([(yield* read).status, (yield* read).monitoring.state], ["paused", "stopped"])
        assert.deepStrictEqual(yield* mails(id), [])

        yield* World.post(`/v1/accounts/${account}/resume`, admins.owner.key)
        yield* revoke(sessionRef)
        yield* jump("1 second")
        yield* licensed(id, "lapsed")
        assert.strictEqual(yield* LicenceStops.applyLicences, 1)
        yield* licensed(id, "active")
        assert.strictEqual(yield* LicenceStops.applyLicences, 1)
        const [row] = yield* World.query<{ stop_reason: string }>(id, (sql) => sql`select stop_reason from account`)
        assert.strictEqual(row?.stop_reason, "session_lost")
        assert.lengthOf(yield* written(id, "protection."), 3)
      }))

    it.effect("many accounts are reported in one event and one mail", () =>
      Effect.gen(function*() {
        const organization = yield* arrange()
        const { id } = organization
        for (let made = 1; made <= 20; made++) yield* makeWatched(organization)
        yield* World.set(id, "organization", id, { status: "suspended" })
        assert.strictEqual(yield* LicenceStops.applyLicences, 21)
        yield* World.set(id, "organization", id, { status: "active" })
        assert.strictEqual(yield* LicenceStops.applyLicences, 21)
        assert.deepStrictEqual(yield* mails(id), ["protection_stopped_widely"])
        assert.deepStrictEqual(yield* written(id, "protection."), [
          "protection.stopped organization",
          "protection.restored organization"
        ])
      }))

    it.effect("the admin of a key is mailed once a week before its end, and the end is journaled once", () =>
      Effect.gen(function*() {
        const { admins, id } = yield* arrange()
        const expires_at = new Date(start + 30 * 24 * hour)
        const made = { created_at: new Date(start), expires_at }
        const [kept, revoked, short] = [
          yield* World.makeKey(id, admins.admin.id, []),
          yield* World.makeKey(id, admins.admin.id, []),
          yield* World.makeKey(id, admins.admin.id, [])
        ]
        yield* World.set(id, "api_key", kept.id, made)
        yield* World.set(id, "api_key", revoked.id, { ...made, revoked_at: new Date(start) })
        yield* World.set(id, "api_key", short.id, { ...made, created_at: new Date(start + 25 * 24 * hour) })
        yield* TestClock.adjust("22 days")
        yield* tellKeyExpiry.run
        assert.deepStrictEqual(yield* mails(id), [])
        yield* TestClock.adjust("1 day")
        yield* tellKeyExpiry.run
        yield* tellKeyExpiry.run
        const found = yield* waiting(id)
        assert.deepStrictEqual(found.map(({ kind }) => kind), ["api_key_expires"])
        assert.match(found[0]?.recipient ?? "", /^admin/)
        yield* TestClock.adjust("7 days")
        yield* World.set(id, "organization", id, { closed_at: new Date(start) })
        assert.strictEqual(yield* tellKeyExpiry.run, 0)
        yield* World.set(id, "organization", id, { closed_at: null })
        yield* tellKeyExpiry.run
        assert.strictEqual(yield* tellKeyExpiry.run, 0)
        const ended = (yield* World.journal(id)).filter(({ action }) => action === "api_key.expired")
        assert.sameMembers(ended.map(({ target_id }) => target_id), [kept.id, short.id])
      }))

    it.effect("a sign-up link that nobody uses holds its seat for 7 days, and one that was used stays", () =>
      Effect.gen(function*() {
        const { admins, id } = yield* World.makeOrganization()
        const now = yield* Clock.currentTimeMillis
        yield* World.addRows("sign_up_link", id, [
          { id: crypto.randomUUID(), created_at: new Date(now) },
          { id: crypto.randomUUID(), created_at: new Date(now + hour) },
          { id: crypto.randomUUID(), created_at: new Date(now), used_at: new Date(now) }
        ])
        const reserved = Effect.map(
          World.get("/v1/organization", admins.owner.key),
          ({ body }) => body.seats.reserved
        )
        const links = Effect.map(World.snapshot(id), (tables) => tables["sign_up_link"]?.length)
        yield* TestClock.adjust(7 * 24 * hour - 1)
        yield* settleLicences.run
        assert.strictEqual(yield* reserved, 2)
        yield* TestClock.adjust(1)
        yield* settleLicences.run
        assert.deepStrictEqual([yield* reserved, yield* links], [1, 2])
        yield* TestClock.adjust(hour)
        yield* settleLicences.run
        assert.deepStrictEqual([yield* reserved, yield* links], [0, 1])
      }))

    it.effect("each journal is checked once a day, over several pages, and a change is found at the next check", () =>
      Effect.gen(function*() {
        const { admins, id } = yield* arrange()
        const check = checkJournals.run
        const status = Effect.map(World.get("/v1/status", admins.owner.key), ({ body }) => body.journal)
        const account = yield* World.makeAccount(id)
        yield* World.post(`/v1/accounts/${account}/pause`, admins.owner.key)
        yield* World.post(`/v1/accounts/${account}/resume`, admins.owner.key)
        // What other tests have left is checked in the same runs.
        while ((yield* check) > 0);
        const at = new Date(start).toISOString()
        assert.include(yield* status, { chain_checked_at: at, chain_ok: true })
        assert.strictEqual(yield* metric("console_journal_chain_ok"), 1)
        yield* asOwner((sql) =>
          Effect.gen(function*() {
            yield* sql`alter table journal_event disable trigger append_only`
            yield* sql`alter table journal_event no force row level security`
            yield* sql`update journal_event set outcome = 'failed' where organization_id = ${id} and sequence = 1`
            yield* sql`alter table journal_event force row level security`
            yield* sql`alter table journal_event enable trigger append_only`
          })
        )
        yield* TestClock.adjust("23 hours")
        assert.strictEqual(yield* check, 0)
        assert.include(yield* status, { chain_ok: true })
        yield* TestClock.adjust("1 hour")
        while ((yield* check) > 0);
        assert.include(yield* status, { chain_ok: false })
        assert.strictEqual(yield* metric("console_journal_chain_ok"), 0)
      }).pipe(Effect.provide(ChainChecks.layer)))
  })
})
