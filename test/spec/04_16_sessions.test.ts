import { describe, expect, layer } from "@effect/vitest"
import { Clock, Duration, Effect, Layer, Redacted } from "effect"
import { TestClock } from "effect/testing"
import * as crypto from "node:crypto"
import { AccountId } from "../../src/domain/Account.ts"
import { operator } from "../../src/domain/Actor.ts"
import { commandLine, journalEntry } from "../../src/domain/JournalEntry.ts"
import { SimulatedPlatform } from "../../src/layers/messenger/SimulatedPlatform.ts"
import * as Worker from "../../src/layers/Worker.ts"
import { Journal } from "../../src/ports/Journal.ts"
import { Sessions } from "../../src/ports/Sessions.ts"
import { forEachDatabase } from "../support/database.ts"
import * as Fixtures from "../support/fixtures.ts"
import * as Held from "../support/held.ts"
import { waiting } from "../support/outbox.ts"
import { advance, forgetOthers } from "../support/watching.ts"
import * as World from "../support/world.ts"

const day = 86_400_000
const start = Date.UTC(2026, 2, 2, 12)

/** An account that is watched, connected so many days ago, and somebody who signs in to it. */
const staged = Effect.fnUntraced(function*(days = 5) {
  const platform = yield* SimulatedPlatform
  yield* TestClock.setTime(start)
  yield* forgetOthers
  const { admins, id } = yield* World.makeOrganization()
  const { key } = admins.owner
  const connected = new Date(start - days * day)
  const account = yield* World.makeLiveAccount(id, {}, {
    facts: {
      connected_at: connected,
      enrolled_at: connected,
      enforcement_active_at: new Date(connected.getTime() + day)
    }
  })
  yield* advance("2 minutes")
  const path = `/v1/accounts/${account.id}/sessions`
  const signIn = Effect.fnUntraced(function*(device = "Pixel 9") {
    const stranger = yield* platform.logIn(account.userId, { device_model: device, app_name: "Messenger" })
    yield* advance("72 seconds")
    return stranger
  })
  const read = Effect.map(World.get(`/v1/accounts/${account.id}`, key), ({ body }) => body)
  return {
    id,
    admins,
    key,
    account,
    platform,
    signIn,
    read,
    approve: (session: string) => World.post(`${path}/${session}/approve`, key),
    signOut: (session: string) => World.post(`${path}/${session}/sign-out`, key),
    signOthersOut: (keep?: string) =>
      World.send("POST", `${path}/sign-out-others`, { key, ...(keep === undefined ? {} : { body: { keep } }) }),
    list: (query = "") => World.get(`/v1/sessions${query}`, key),
    strangers: Effect.map(
      read,
      ({ sessions }) =>
        sessions.filter((one: { service_session: boolean }) => !one.service_session).map((one: { id: string }) =>
          one.id
        )
    ),
    terminations: Effect.map(
      read,
      ({ terminations }) =>
        terminations.map(({ actor, reason }: { actor: string; reason: string }) => `${actor} ${reason}`)
    ),
    events: Effect.map(World.journal(id), (all) => all.map(({ action, outcome }) => `${action} ${outcome}`)),
    mails: (kind: string) =>
      Effect.map(waiting(id), (all) => all.filter((mail) => mail.kind === kind && mail.recipient.startsWith("owner")))
  }
})

const told = ({ body, status }: World.Answer) => [status, body.action ?? body.error.code, body.status ?? null]

describe("4.16, 10.6 sessions", () => {
  forEachDatabase((_, database) => {
    layer(Worker.layer().pipe(Layer.provideMerge(World.world(database))))((it) => {
      it.effect("a stranger who is approved stays, past the deadline and after a repetition", () =>
        Effect.gen(function*() {
          const { approve, events, read, signIn, strangers } = yield* staged()
          const stranger = yield* signIn()
          expect((yield* read).status).toBe("new_sign_in")
          expect(told(yield* approve(stranger))).toEqual([200, "session_approved", "protected"])
          const before = yield* events
          expect(before.at(-1)).toBe("session.approved done")
          expect(told(yield* approve(stranger))).toEqual([200, "session_approved", null])
          expect(yield* advance(Duration.hours(30))).toBe(0)
          expect(yield* strangers).toEqual([stranger])
          expect(yield* events).toEqual(before)
        }))

      it.effect("an admin who signs a thief out stops the takeover, which locks the account as the service does", () =>
        Effect.gen(function*() {
          const { account, events, mails, platform, read, signIn, signOthersOut } = yield* staged()
          const { userId } = account
          yield* signIn()
          // The platform takes no sign-out for a while, so that the takeover stays open.
          yield* platform.script({ answer: { _tag: "Busy", seconds: 90 }, operation: "sign_out", userId, times: 1 })
          yield* platform.changeSecurity(userId, { two_fa_password: Redacted.make("the thief's") })
          yield* advance(Duration.seconds(80))
          expect((yield* read).status).toBe("new_sign_in")
          expect(told(yield* signOthersOut("none"))).toEqual([200, "sessions_signed_out", "hijack_blocked"])
          expect(yield* events).toContain("takeover.stopped done")
          expect((yield* read).tamper).toMatchObject({ reason: "two_fa" })
          expect(yield* mails("takeover_stopped")).toHaveLength(1)
          yield* advance(Duration.minutes(5))
          expect((yield* events).filter((event) => event === "takeover.stopped done")).toHaveLength(1)
        }))

      it.effect("a managed 2FA password is replaced after a takeover that an admin has stopped too: the thief may know it", () =>
        Effect.gen(function*() {
          const { account, events, id, platform, signIn, signOthersOut } = yield* staged()
          const { userId } = account
          const ours = Redacted.make("the service's own")
          yield* platform.changeSecurity(userId, { two_fa_password: ours })
          yield* Held.hold(id, account.id, { password: ours })
          yield* advance("11 minutes")
          yield* signIn()
          yield* platform.script({ answer: { _tag: "Busy", seconds: 90 }, operation: "sign_out", userId, times: 1 })
          yield* platform.changeSecurity(userId, { passkey_id: "thief" })
          yield* advance(Duration.seconds(80))
          expect(told(yield* signOthersOut("none"))[2]).toBe("hijack_blocked")
          yield* advance(Duration.minutes(2))
          expect(yield* events).toContain("two_fa.set done")
          expect(yield* platform.isPassword(userId, ours)).toBe(false)
        }))

      it.effect("of sessions that a process was signing out when it died each is told of, whoever ended it", () =>
        Effect.gen(function*() {
          const { account, admins, id, platform, signIn, strangers } = yield* staged()
          const all = [yield* signIn("one"), yield* signIn("two"), yield* signIn("three")]
          const whose = { organizationId: id, accountId: AccountId.make(account.id) }
          const now = new Date(yield* Clock.currentTimeMillis)
          // As it is left: one intent, the messenger has taken two of the calls, and no outcome is written.
          const intent = yield* Fixtures.within(
            id,
            Effect.gen(function*() {
              const journal = yield* Journal
              const { sequence } = yield* journal.begin(
                id,
                journalEntry(operator, commandLine, { action: "sessions.signed_out", target: "account" }, {
                  targetId: account.id,
                  accountId: account.id,
                  outcome: "pending",
                  details: {}
                })
              )
              const rejection = { sessions: all, by: admins.owner.id, intent: sequence }
              yield* Effect.flatMap(Sessions, (sessions) => sessions.reject(whose, rejection, now))
              return sequence
            })
          )
          for (const gone of all.slice(0, 2)) yield* platform.logOut(account.userId, gone)
          yield* advance(Duration.minutes(2))
          expect(yield* strangers).toEqual([])
          const told = (yield* World.journal(id)).filter(({ action }) => action === "session.signed_out")
          const done = told.filter(({ outcome }) => outcome === "done")
          expect(done.map(({ target_id }) => target_id).toSorted()).toEqual(all.toSorted())
          expect(done.map(({ closes }) => closes)).toContain(intent)
          const open = yield* World.query(id, (sql) => sql`select sequence from pending_change`)
          expect(open).toEqual([])
        }))

      it.effect("a stranger is signed out at once, and that answers the same for a day", () =>
        Effect.gen(function*() {
          const { events, platform, read, signIn, signOut, strangers, terminations } = yield* staged()
          const stranger = yield* signIn()
          expect(told(yield* signOut(stranger))).toEqual([200, "session_signed_out", "protected"])
          expect([yield* strangers, yield* terminations]).toEqual([[], ["service rejected"]])
          const before = yield* events
          expect(before.slice(-2)).toEqual(["session.signed_out pending", "session.signed_out done"])
          const calls = (yield* platform.calls).filter(({ operation }) => operation === "sign_out").length
          expect(told(yield* signOut(stranger))).toEqual([200, "session_signed_out", null])
          yield* advance(Duration.hours(23))
          expect((yield* signOut(stranger)).status).toBe(200)
          expect((yield* platform.calls).filter(({ operation }) => operation === "sign_out").length).toBe(calls)
          expect(yield* events).toEqual(before)
          yield* advance(Duration.hours(2))
          expect(World.refusal(yield* signOut(stranger))).toEqual([404, "resource_missing", "session_id"])
          expect((yield* read).status).toBe("protected")
        }))

      it.effect("S2.3-29: within 24 hours of connecting a sign-out is queued, and done when the messenger lets the service", () =>
        Effect.gen(function*() {
          const { events, signIn, signOut, strangers, terminations } = yield* staged(0)
          const stranger = yield* signIn()
          const queued = [200, "session_sign_out_queued", null]
          expect(told(yield* signOut(stranger))).toEqual(queued)
          const before = yield* events
          expect(before.at(-1)).toBe("session.sign_out_queued done")
          expect(told(yield* signOut(stranger))).toEqual(queued)
          expect(yield* events).toEqual(before)
          yield* advance(Duration.hours(23))
          expect(yield* strangers).toEqual([stranger])
          expect(yield* advance(Duration.hours(2))).toBe(1)
          expect([yield* strangers, yield* terminations]).toEqual([[], ["service rejected"]])
        }))

      it.effect("approving takes a queued sign-out back, and rejecting an approval: the last word counts", () =>
        Effect.gen(function*() {
          const { approve, mails, signIn, signOut, strangers, terminations } = yield* staged(0)
          const [kept, rejected] = [yield* signIn("Tablet"), yield* signIn("Laptop")]
          yield* signOut(kept)
          const before = (yield* mails("review_ended")).length
          expect(told(yield* approve(kept))[1]).toBe("session_approved")
          expect((yield* mails("review_ended")).length).toBe(before + 1)
          yield* approve(rejected)
          expect(told(yield* signOut(rejected))[1]).toBe("session_sign_out_queued")
          yield* advance(Duration.hours(26))
          expect([yield* strangers, yield* terminations]).toEqual([[kept], ["service rejected"]])
        }))

      it.effect("others are signed out with one intent and one event, and a termination of each", () =>
        Effect.gen(function*() {
          const { approve, events, id, read, signIn, signOthersOut, strangers, terminations } = yield* staged()
          const known = yield* signIn("Phone")
          yield* approve(known)
          yield* signIn("Tablet")
          yield* signIn("Laptop")
          const before = (yield* events).length
          expect(told(yield* signOthersOut())).toEqual([200, "sessions_signed_out", "protected"])
          expect([yield* strangers, yield* terminations]).toEqual([[known], ["service rejected", "service rejected"]])
          const entries = (yield* World.journal(id)).slice(before)
          expect(entries.map(({ outcome }) => outcome)).toEqual(["pending", "done"])
          expect(entries[1]?.details).toMatchObject({ keep: "approved_and_baseline", sessions: 2, signed_out: 2 })
          expect(told(yield* signOthersOut())).toEqual([200, "sessions_signed_out", null])
          expect(told(yield* signOthersOut("approved"))[1]).toBe("sessions_signed_out")
          expect((yield* events).length).toBe(before + 2)
          yield* signOthersOut("none")
          expect(yield* strangers).toEqual([])
          expect((yield* read).sessions.length).toBe(1)
        }))

      it.effect("what the messenger refuses stays queued and is tried again; one that somebody else ended is missing", () =>
        Effect.gen(function*() {
          const { account, events, platform, signIn, signOut, terminations } = yield* staged()
          const stranger = yield* signIn()
          yield* platform.script({ answer: { _tag: "Lost" }, operation: "sign_out", userId: account.userId })
          expect(World.refusal(yield* signOut(stranger))).toEqual([503, "messenger_unavailable"])
          expect((yield* events).at(-1)).toBe("session.signed_out failed")
          yield* advance("2 minutes")
          expect(yield* terminations).toEqual(["service rejected"])
          const other = yield* signIn("Laptop")
          yield* platform.logOut(account.userId, other)
          expect(World.refusal(yield* signOut(other))).toEqual([404, "resource_missing", "session_id"])
          yield* advance("2 minutes")
          expect((yield* terminations)[0]).toBe("external null")
        }))

      it.effect("a sign-out whose process died after the call is known as the service's", () =>
        Effect.gen(function*() {
          const { events, signIn, signOut, terminations } = yield* staged()
          const stranger = yield* signIn()
          const sessions = yield* Sessions
          const dying = Sessions.of({ ...sessions, settle: () => Effect.die(new Error("gone")) })
          expect((yield* Effect.provideService(signOut(stranger), Sessions, dying)).status).toBe(500)
          expect([(yield* events).at(-1), yield* terminations]).toEqual(["session.signed_out pending", []])
          yield* advance("3 minutes")
          expect(yield* terminations).toEqual(["service rejected"])
          expect((yield* events).filter((one) => one === "session.signed_out done")).toHaveLength(1)
          expect((yield* signOut(stranger)).status).toBe(200)
        }))

      it.effect("one that is approved before anybody has seen that it is gone was signed out by the service all the same", () =>
        Effect.gen(function*() {
          const { approve, events, signIn, signOut, terminations } = yield* staged()
          const stranger = yield* signIn()
          const sessions = yield* Sessions
          const dying = Sessions.of({ ...sessions, settle: () => Effect.die(new Error("gone")) })
          yield* Effect.provideService(signOut(stranger), Sessions, dying)
          expect(told(yield* approve(stranger))).toEqual([200, "session_approved", "protected"])
          expect(told(yield* approve(stranger))).toEqual([200, "session_approved", null])
          yield* advance("3 minutes")
          expect(yield* terminations).toEqual(["service rejected"])
          expect((yield* events).filter((one) => one === "session.signed_out done")).toHaveLength(1)
        }))

      it.effect("an approval stays the last word over a sign-out that may have been sent, also through a pause", () =>
        Effect.gen(function*() {
          const { account, approve, events, key, read, signIn, signOut, strangers } = yield* staged()
          const stranger = yield* signIn()
          const sessions = yield* Sessions
          const dying = Sessions.of({ ...sessions, maySignOut: () => Effect.die(new Error("gone")) })
          yield* Effect.provideService(signOut(stranger), Sessions, dying)
          yield* approve(stranger)
          yield* World.post(`/v1/accounts/${account.id}/pause`, key)
          yield* World.post(`/v1/accounts/${account.id}/resume`, key)
          expect(yield* advance(Duration.hours(30))).toBe(0)
          expect(yield* strangers).toEqual([stranger])
          expect((yield* read).status).toBe("protected")
          expect((yield* events).filter((one) => one.startsWith("session.signed_out "))).toEqual([
            "session.signed_out pending",
            "session.signed_out failed"
          ])
        }))

      it.effect("the service's own sessions, paused accounts and unknown ids are refused", () =>
        Effect.gen(function*() {
          const { account, approve, key, read, signOthersOut, signIn, signOut } = yield* staged()
          const own = (yield* read).sessions[0].id
          const stranger = yield* signIn()
          for (const act of [approve, signOut]) {
            expect(World.refusal(yield* act(own))).toEqual([409, "service_session", "session_id"])
            expect(World.refusal(yield* act(crypto.randomUUID()))).toEqual([404, "resource_missing", "session_id"])
          }
          yield* World.post(`/v1/accounts/${account.id}/pause`, key)
          for (const refused of [approve(stranger), signOut(stranger), signOthersOut()]) {
            expect(World.refusal(yield* refused)).toEqual([409, "not_active"])
          }
        }))

      it.effect("4.11: a pause keeps why a queued sign-out was withheld, tells of it, and a resume goes on with it", () =>
        Effect.gen(function*() {
          const { account, id, key, list, mails, signIn, signOut, strangers, terminations } = yield* staged(0)
          const stranger = yield* signIn()
          yield* signOut(stranger)
          yield* World.post(`/v1/accounts/${account.id}/pause`, key)
          expect((yield* mails("review_ended")).length).toBe(1)
          expect((yield* list("?review=pending")).body.data).toEqual([])
          const [row] = yield* World.query<Record<string, unknown>>(
            id,
            (sql) =>
              sql`select withheld_reason, ending_reason, ending_at, queued_at, review_deadline from session
              where organization_id = ${id} and id = ${stranger}`
          )
          expect(row).toEqual({
            withheld_reason: "rejected",
            ending_reason: null,
            ending_at: null,
            queued_at: null,
            review_deadline: null
          })
          yield* advance(Duration.hours(26))
          expect(yield* strangers).toEqual([stranger])
          yield* World.post(`/v1/accounts/${account.id}/resume`, key)
          yield* advance("2 minutes")
          expect([yield* strangers, yield* terminations]).toEqual([[], ["service rejected"]])
        }))

      it.effect("are listed by deadline, then the newest, page by page, in reach and by their review", () =>
        Effect.gen(function*() {
          yield* TestClock.setTime(start)
          const { admins, id } = yield* World.makeOrganization()
          const [a, b] = [yield* World.makeAccount(id), yield* World.makeAccount(id)]
          const at = (hours: number) => new Date(start + hours * 3_600_000)
          yield* World.addRows("session", id, [
            { account_id: a, id: "own", service: true, current: true, seen_at: at(0) },
            { account_id: a, id: "late", review_deadline: at(9), seen_at: at(0) },
            { account_id: a, id: "old", baseline: true, seen_at: at(-9) },
            { account_id: a, id: "known", approved_at: at(0), seen_at: at(-1) },
            { account_id: b, id: "soon", review_deadline: at(1), seen_at: at(0) },
            { account_id: b, id: "newer", review_deadline: at(9), seen_at: at(1) },
            { account_id: b, id: "leaving", approved_at: at(0), queued_at: at(0), seen_at: at(-2) }
          ])
          const names = (answer: World.Answer): ReadonlyArray<string> =>
            answer.body.data.map(({ session }: { session: { id: string } }) => session.id)
          const list = (query: string, key = admins.owner.key) => World.get(`/v1/sessions${query}`, key)
          const all = ["soon", "newer", "late", "known", "leaving", "old"]
          expect(names(yield* list(""))).toEqual(all)
          for (const limit of [1, 2, 3, 4, 5, 6]) {
            const seen: Array<string> = []
            let page = yield* list(`?limit=${limit}`)
            seen.push(...names(page))
            while (page.body.has_more) {
              page = yield* list(`?limit=${limit}&starting_after=${page.body.data.at(-1).id}`)
              seen.push(...names(page))
            }
            expect(seen).toEqual(all)
          }
          expect(names(yield* list("?review=pending"))).toEqual(["soon", "newer", "late", "leaving"])
          expect(names(yield* list("?review=approved"))).toEqual(["known"])
          expect(names(yield* list("?review=unreviewed"))).toEqual(["old"])
          expect(names(yield* list(`?account_id=${b}`))).toEqual(["soon", "newer", "leaving"])
          expect(names(yield* list("", admins.admin.key))).toEqual([])
          const [first] = (yield* list("")).body.data
          expect(World.refusal(yield* list(`?starting_after=${first.id}`, admins.admin.key)))
            .toEqual([400, "parameter_invalid", "starting_after"])
          yield* World.grant(id, admins.admin.id, { accounts: [a] })
          expect(names(yield* list("", admins.admin.key))).toEqual(["late", "known", "old"])
          // Whoever reaches a department reads what its accounts show now, wherever they were before.
          const department = yield* World.makeDepartment(id, "Field")
          yield* World.grant(id, admins.admin.id, { departments: [department] })
          yield* World.set(id, "account", b, { department_id: department })
          const both = yield* list("?limit=3", admins.admin.key)
          expect(names(both)).toEqual(["soon", "newer", "late"])
          const rest = yield* list(`?starting_after=${both.body.data.at(-1).id}`, admins.admin.key)
          expect(names(rest)).toEqual(["known", "leaving", "old"])
          yield* World.set(id, "account", b, { department_id: null })
          expect(names(yield* list("", admins.admin.key))).toEqual(["late", "known", "old"])
        }))
    })
  })
})
