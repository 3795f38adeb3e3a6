import { assert, describe, layer } from "@effect/vitest"
import { Duration, Effect, Layer, Redacted } from "effect"
import { TestClock } from "effect/testing"
import { AccountId } from "../../src/domain/accounts/Account.ts"
import { OrganizationId } from "../../src/domain/people/Access.ts"
import * as Worker from "../../src/layers/Worker.ts"
import { LiveSessions } from "../../src/messenger/OpenSessions.ts"
import { waiting } from "../support/mail/outbox.ts"
import { forEachDatabase } from "../support/postgres/database.ts"
import { arrange, start } from "../support/protection/watched.ts"
import { jump } from "../support/protection/watching.ts"
import * as World from "../support/world.ts"

/** By then every poll is due, whatever its spread. */
const poll = Duration.seconds(72)

const models = (account: any): Array<string | null> =>
  account.sessions.filter((session: any) => !session.service_session).map((session: any) => session.device_model)

const ended = (account: any) => account.terminations.map(({ actor, reason }: any) => [actor, reason])

/** The reasons of automatic sign-outs, as the journal's API says them. */
const autokilled = (account: string, key: Redacted.Redacted) =>
  Effect.map(
    World.get(`/v1/journal?account_id=${account}&action=session.autokilled`, key),
    ({ body }) => body.data.map(({ details, outcome }: any) => [outcome, details.reason])
  )

const count = (all: ReadonlyArray<string>, one: string) => all.filter((each) => each === one).length

/** The mails that wait, and that none of them waits twice for one person. */
const mails = Effect.fnUntraced(function*(organization: string) {
  const all = yield* waiting(organization)
  const keys = all.map(({ cause, kind, recipient }) => `${cause} ${kind} ${recipient}`)
  assert.strictEqual(new Set(keys).size, keys.length)
  return all.map(({ kind }) => kind)
})

const twoRecipients = { notification_recipients: "owner_superadmins" }

/** Has the messenger push something, and waits until it was heard and written down. */
const pushed = Effect.fnUntraced(function*<E, R>(push: Effect.Effect<unknown, E, R>) {
  const { heard } = yield* LiveSessions
  const known = yield* heard
  yield* push
  yield* heard.pipe(
    Effect.delay("2 millis"),
    Effect.repeat({ until: (count) => count > known, times: 1000 }),
    TestClock.withLive
  )
})

describe("12.6 what protects an account", () => {
  forEachDatabase((_, database) => {
    layer(Worker.layer().pipe(Layer.provideMerge(World.world(database))))((it) => {
      it.effect("S2.2-17, S3.2-04: a 2FA password that somebody changes while a stranger is there is a takeover: all are signed out", () =>
        Effect.gen(function*() {
          const { admins, done, id, platform, read, stranger, userId } = yield* arrange(twoRecipients)
          yield* jump("1 minute")
          yield* stranger
          yield* jump(poll)
          assert.sameMembers(models(yield* read), ["Holder's phone", "Pixel 9"])
          yield* platform.changeSecurity(userId, { two_fa_password: Redacted.make("the thief's") })
          assert.strictEqual(yield* jump(poll), 2)
          const account = yield* read
          assert.strictEqual(account.status, "hijack_blocked")
          assert.deepStrictEqual(models(account), [])
          assert.deepStrictEqual(ended(account), [["service", "hijacked"], ["service", "hijacked"]])
          assert.strictEqual(account.tamper.locked_at, new Date(start + 204_000).toISOString())
          assert.strictEqual(account.tamper.reason, "two_fa")
          const before = yield* done
          assert.strictEqual(count(before, "takeover.detected"), 1)
          assert.strictEqual(count(before, "takeover.stopped"), 1)
          assert.sameMembers(
            yield* mails(id),
            ["session_detected", "takeover_detected", "takeover_stopped"].flatMap((kind) => [kind, kind])
          )
          // While the lock lasts, a new session is signed out on sight, and no review is said to have been missed.
          yield* stranger
          assert.strictEqual(yield* jump(poll), 1)
          assert.deepStrictEqual(models(yield* read), [])
          assert.deepStrictEqual(yield* autokilled(account.id, admins.owner.key), [["done", "lock"], [
            "pending",
            "lock"
          ]])
        }))

      it.effect("S2.2-18: where locks are turned off, a takeover is reported and nothing is signed out", () =>
        Effect.gen(function*() {
          const { done, id, platform, read, stranger, userId } = yield* arrange({ tamper_lockdown_enabled: false })
          yield* jump("1 minute")
          yield* stranger
          yield* jump(poll)
          yield* platform.changeSecurity(userId, { two_fa_password: Redacted.make("the thief's") })
          assert.strictEqual(yield* jump(poll), 0)
          assert.strictEqual(yield* jump(poll), 0)
          const account = yield* read
          assert.strictEqual(account.status, "new_sign_in")
          assert.strictEqual(models(account).length, 2)
          assert.isNull(account.tamper.locked_at)
          assert.strictEqual(count(yield* done, "takeover.detected"), 1)
          assert.sameMembers(yield* mails(id), ["session_detected", "takeover_detected"])
        }))

      it.effect("the second session goes on where the first one is revoked, and strangers are found through it", () =>
        Effect.gen(function*() {
          const { admins, done, id, pair, read, revoke, sessionRef, stranger } = yield* arrange()
          yield* pair
          yield* jump("1 minute")
          yield* revoke(sessionRef)
          yield* jump(poll)
          assert.strictEqual((yield* read).status, "protected")
          assert.strictEqual(count(yield* done, "monitoring.failed_over"), 1)
          assert.deepStrictEqual(yield* mails(id), ["outside_change_detected"])
          yield* stranger
          yield* jump(poll)
          const account = yield* read
          assert.strictEqual(account.status, "new_sign_in")
          assert.sameMembers(models(account), ["Holder's phone", "Pixel 9"])
          assert.strictEqual(count(yield* done, "session.detected"), 1)
          assert.strictEqual(yield* jump("12 hours"), 1)
          assert.deepStrictEqual(ended(yield* read), [["service", "autokill"]])
          assert.deepStrictEqual(
            yield* autokilled(account.id, admins.owner.key),
            [["done", "deadline"], ["pending", "deadline"]]
          )
        }))

      it.effect("without a second session protection stops, which is reported once, and the looks end", () =>
        Effect.gen(function*() {
          const { done, id, platform, read, revoke, sessionRef, userId } = yield* arrange(twoRecipients)
          yield* jump("1 minute")
          yield* revoke(sessionRef)
          yield* jump(poll)
          const calls = Effect.map(platform.calls, (all) => all.filter(({ user_id }) => user_id === userId).length)
          const before = yield* calls
          yield* jump("1 hour")
          assert.strictEqual(yield* calls, before)
          const account = yield* read
          assert.strictEqual(account.status, "protection_stopped")
          assert.strictEqual(account.monitoring.state, "stopped")
          assert.strictEqual(count(yield* done, "protection.stopped"), 1)
          assert.strictEqual(count(yield* mails(id), "protection_stopped"), 2)
          // Somebody else may protect the person now.
          assert.deepStrictEqual(yield* World.query(id, (sql) => sql`select * from messenger_identity`), [])
        }))

      it.effect("after three failed polls the account is unknown, which is reported once, until one succeeds", () =>
        Effect.gen(function*() {
          const { done, id, platform, read, userId } = yield* arrange(twoRecipients)
          yield* jump("1 minute")
          yield* platform.script({ answer: { _tag: "Unavailable" }, operation: "authorizations", userId, times: 4 })
          yield* jump(poll)
          yield* jump(poll)
          assert.strictEqual((yield* read).status, "protected")
          yield* jump(poll)
          assert.strictEqual((yield* read).status, "status_unknown")
          yield* jump(poll)
          assert.strictEqual(count(yield* done, "monitoring.lost"), 1)
          yield* jump(poll)
          assert.strictEqual((yield* read).status, "protected")
          assert.deepStrictEqual(
            (yield* done).filter((action) => action.startsWith("monitoring.")),
            ["monitoring.lost", "monitoring.restored"]
          )
          assert.deepStrictEqual(yield* mails(id), ["monitoring_lost", "monitoring_lost"])
        }))

      it.effect("a flood wait is kept, and is no failure", () =>
        Effect.gen(function*() {
          const { done, platform, read, stranger, userId } = yield* arrange()
          yield* jump("1 minute")
          yield* platform.script({ answer: { _tag: "Busy", seconds: 300 }, operation: "authorizations", userId })
          yield* jump(poll)
          const calls = Effect.map(platform.calls, (all) => all.filter(({ user_id }) => user_id === userId).length)
          const before = yield* calls
          yield* jump("299 seconds")
          assert.strictEqual(yield* calls, before)
          yield* jump("1 second")
          assert.isAbove(yield* calls, before)
          assert.strictEqual((yield* read).status, "protected")
          assert.deepStrictEqual(yield* done, [])

          // Of several sign-outs none is sent after the one that is asked to wait.
          yield* stranger
          yield* stranger
          yield* jump(poll)
          yield* platform.script({ answer: { _tag: "Busy", seconds: 60 }, operation: "sign_out", userId })
          const signOuts = Effect.map(
            platform.calls,
            (all) => all.filter(({ operation, user_id }) => user_id === userId && operation === "sign_out").length
          )
          yield* jump("12 hours")
          assert.strictEqual(yield* signOuts, 1)
          yield* jump("1 minute")
          assert.deepStrictEqual([yield* signOuts, (yield* read).status], [3, "protected"])
        }))

      it.effect("what the messenger says unasked makes the account due without a minute passing", () =>
        Effect.gen(function*() {
          const { account, id, platform, read, userId } = yield* arrange()
          yield* jump("1 minute")
          yield* platform.logIn(userId, { device_model: "Pixel 9" })
          yield* World.query<{ urgent: boolean }>(
            id,
            (sql) => sql`select urgent from monitor where organization_id = ${id} and account_id = ${account}`
          ).pipe(
            Effect.delay("5 millis"),
            Effect.repeat({ until: ([row]) => row?.urgent === true, times: 400 }),
            TestClock.withLive
          )
          yield* jump(0)
          assert.strictEqual((yield* read).status, "new_sign_in")
        }))

      it.effect("pushes that do not end have an account looked at three times, and then every five seconds", () =>
        Effect.gen(function*() {
          const { platform, userId } = yield* arrange()
          yield* jump("1 minute")
          const looks = Effect.map(
            platform.calls,
            (all) => all.filter(({ operation, user_id }) => operation === "authorizations" && user_id === userId).length
          )
          const before = yield* looks
          for (let second = 0; second < 30; second++) {
            yield* pushed(platform.sendCode(userId))
            yield* jump("1 second")
          }
          assert.strictEqual((yield* looks) - before, 3 + 6)
        }))

      it.effect("pushes between steps that others ask for make the account due within five seconds all the same", () =>
        Effect.gen(function*() {
          const { account, id, platform, sessionRef, userId } = yield* arrange()
          yield* jump("1 minute")
          const { use } = yield* LiveSessions
          const of = { accountId: AccountId.make(account), organizationId: OrganizationId.make(id) }
          for (let step = 0; step < 9; step++) {
            yield* pushed(platform.sendCode(userId))
            yield* Effect.scoped(use(of, sessionRef))
          }
          yield* World.set(id, "monitor", account, { urgent: false, next_at: new Date(start + 3_600_000) })
          yield* pushed(platform.sendCode(userId))
          const [row] = yield* World.query<{ next_at: Date }>(
            id,
            (sql) => sql`select next_at from monitor where account_id = ${account}`
          )
          assert.strictEqual(row?.next_at.getTime(), start + 60_000 + 5000)
        }))

      it.effect("S2.4-09: a stranger that is approved in time stays", () =>
        Effect.gen(function*() {
          const { account, admins, done, read, stranger } = yield* arrange()
          yield* jump("1 minute")
          const session = yield* stranger
          yield* jump(poll)
          const approve = World.post(`/v1/accounts/${account}/sessions/${session}/approve`, admins.owner.key)
          assert.strictEqual((yield* approve).status, 200)
          yield* jump(poll)
          assert.strictEqual((yield* read).status, "protected")
          assert.strictEqual(yield* jump("12 hours"), 0)
          assert.strictEqual(yield* jump("12 hours"), 0)
          assert.sameMembers(models(yield* read), ["Holder's phone", "Pixel 9"])
          assert.notInclude(yield* done, "session.autokilled")
        }))

      it.effect("S3.1-09: a pause ends the looks, and a resume gives the present sessions a new deadline", () =>
        Effect.gen(function*() {
          const { account, admins, id, platform, read, stranger, userId } = yield* arrange()
          yield* jump("1 minute")
          yield* stranger
          yield* jump(poll)
          const deadline = Effect.map(
            read,
            ({ sessions }) => sessions.find(({ device_model }: any) => device_model === "Pixel 9").review_deadline
          )
          assert.strictEqual(yield* deadline, new Date(start + 132_000 + 12 * 3_600_000).toISOString())
          assert.strictEqual((yield* World.post(`/v1/accounts/${account}/pause`, admins.owner.key)).status, 200)
          const calls = Effect.map(platform.calls, (all) => all.filter(({ user_id }) => user_id === userId).length)
          const before = yield* calls
          assert.strictEqual(yield* jump("13 hours"), 0)
          assert.strictEqual(yield* calls, before)
          assert.sameMembers(models(yield* read), ["Holder's phone", "Pixel 9"])
          assert.strictEqual((yield* World.post(`/v1/accounts/${account}/resume`, admins.owner.key)).status, 200)
          assert.strictEqual(yield* jump(0), 0)
          assert.strictEqual((yield* read).status, "new_sign_in")
          // The stranger signed in 23 hours before.
          assert.strictEqual(yield* deadline, new Date(start + 60_000 + 23 * 3_600_000).toISOString())
          assert.strictEqual(yield* jump("10 hours"), 1)
          assert.deepStrictEqual(ended(yield* read), [["service", "autokill"]])
          assert.sameMembers(yield* mails(id), ["session_detected", "review_ended", "session_autokilled"])
        }))
    })
  })
})
