import { describe, expect, layer } from "@effect/vitest"
import { Clock, Duration, Effect, Layer, Redacted } from "effect"
import { AccountId } from "../../src/domain/accounts/Account.ts"
import { operator } from "../../src/domain/journal/Actor.ts"
import { commandLine, journalEntry } from "../../src/domain/journal/JournalEntry.ts"
import * as Worker from "../../src/layers/Worker.ts"
import { Journal } from "../../src/ports/journal/Journal.ts"
import { Sessions } from "../../src/ports/sessions/Sessions.ts"
import * as Fixtures from "../support/fixtures.ts"
import { forSpecification } from "../support/postgres/database.ts"
import { staged, summaryOf } from "../support/protection/reviewing.ts"
import { advance } from "../support/protection/watching.ts"
import * as HeldSecrets from "../support/security/heldSecrets.ts"
import * as World from "../support/world.ts"

describe("4.16, 10.6 signing sessions out", () => {
  forSpecification((_, database) => {
    layer(Worker.layer().pipe(Layer.provideMerge(World.world(database))))((it) => {
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
          expect(summaryOf(yield* signOthersOut("none"))).toEqual([200, "sessions_signed_out", "hijack_blocked"])
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
          yield* HeldSecrets.hold(id, account.id, { password: ours })
          yield* advance("11 minutes")
          yield* signIn()
          yield* platform.script({ answer: { _tag: "Busy", seconds: 90 }, operation: "sign_out", userId, times: 1 })
          yield* platform.changeSecurity(userId, { passkey_id: "thief" })
          yield* advance(Duration.seconds(80))
          expect(summaryOf(yield* signOthersOut("none"))[2]).toBe("hijack_blocked")
          yield* advance(Duration.minutes(2))
          expect(yield* events).toContain("two_fa.set done")
          expect(yield* platform.isPassword(userId, ours)).toBe(false)
        }))

      it.effect("each session that a process was signing out when it died is reported, whoever ended it", () =>
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
          const signedOut = (yield* World.journal(id)).filter(({ action }) => action === "session.signed_out")
          const done = signedOut.filter(({ outcome }) => outcome === "done")
          expect(done.map(({ target_id }) => target_id).toSorted()).toEqual(all.toSorted())
          expect(done.map(({ closes }) => closes)).toContain(intent)
          const open = yield* World.query(id, (sql) => sql`select sequence from pending_change`)
          expect(open).toEqual([])
        }))

      it.effect("S2.4-02, S3.2-03: a stranger is signed out at once, which says rejected, and that answers the same for a day", () =>
        Effect.gen(function*() {
          const { events, platform, read, signIn, signOut, strangers, terminations } = yield* staged()
          const stranger = yield* signIn()
          expect(summaryOf(yield* signOut(stranger))).toEqual([200, "session_signed_out", "protected"])
          expect([yield* strangers, yield* terminations]).toEqual([[], ["service rejected"]])
          const before = yield* events
          expect(before.slice(-2)).toEqual(["session.signed_out pending", "session.signed_out done"])
          const calls = (yield* platform.calls).filter(({ operation }) => operation === "sign_out").length
          expect(summaryOf(yield* signOut(stranger))).toEqual([200, "session_signed_out", null])
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
          expect(summaryOf(yield* signOut(stranger))).toEqual(queued)
          const before = yield* events
          expect(before.at(-1)).toBe("session.sign_out_queued done")
          expect(summaryOf(yield* signOut(stranger))).toEqual(queued)
          expect(yield* events).toEqual(before)
          yield* advance(Duration.hours(23))
          expect(yield* strangers).toEqual([stranger])
          expect(yield* advance(Duration.hours(2))).toBe(1)
          expect([yield* strangers, yield* terminations]).toEqual([[], ["service rejected"]])
        }))

      it.effect("others are signed out with one intent and one event, and a termination of each", () =>
        Effect.gen(function*() {
          const { approve, events, id, read, signIn, signOthersOut, strangers, terminations } = yield* staged()
          const known = yield* signIn("Phone")
          yield* approve(known)
          yield* signIn("Tablet")
          yield* signIn("Laptop")
          const before = (yield* events).length
          expect(summaryOf(yield* signOthersOut())).toEqual([200, "sessions_signed_out", "protected"])
          expect([yield* strangers, yield* terminations]).toEqual([[known], ["service rejected", "service rejected"]])
          const entries = (yield* World.journal(id)).slice(before)
          expect(entries.map(({ outcome }) => outcome)).toEqual(["pending", "done"])
          expect(entries[1]?.details).toMatchObject({ keep: "approved_and_baseline", sessions: 2, signed_out: 2 })
          expect(summaryOf(yield* signOthersOut())).toEqual([200, "sessions_signed_out", null])
          expect(summaryOf(yield* signOthersOut("approved"))[1]).toBe("sessions_signed_out")
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
          const dying = Sessions.of({ ...sessions, applySignOuts: () => Effect.die(new Error("gone")) })
          expect((yield* Effect.provideService(signOut(stranger), Sessions, dying)).status).toBe(500)
          expect([(yield* events).at(-1), yield* terminations]).toEqual(["session.signed_out pending", []])
          yield* advance("3 minutes")
          expect(yield* terminations).toEqual(["service rejected"])
          expect((yield* events).filter((one) => one === "session.signed_out done")).toHaveLength(1)
          expect((yield* signOut(stranger)).status).toBe(200)
        }))
    })
  })
})
