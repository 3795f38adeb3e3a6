import { describe, expect, layer } from "@effect/vitest"
import { Duration, Effect, Layer } from "effect"
import { TestClock } from "effect/testing"
import * as crypto from "node:crypto"
import * as Worker from "../../src/layers/Worker.ts"
import { Sessions } from "../../src/ports/sessions/Sessions.ts"
import { forSpecification } from "../support/postgres/database.ts"
import { staged, start, summaryOf } from "../support/protection/reviewing.ts"
import { advance } from "../support/protection/watching.ts"
import * as World from "../support/world.ts"

describe("4.16, 10.6 reviews of sessions", () => {
  forSpecification((_, database) => {
    layer(Worker.layer().pipe(Layer.provideMerge(World.world(database))))((it) => {
      it.effect("S2.4-02: a stranger who is approved stays, past the deadline and after a repetition", () =>
        Effect.gen(function*() {
          const { approve, events, read, signIn, strangers } = yield* staged()
          const stranger = yield* signIn()
          expect((yield* read).status).toBe("new_sign_in")
          expect(yield* strangers).toEqual([stranger])
          expect(summaryOf(yield* approve(stranger))).toEqual([200, "session_approved", "protected"])
          const before = yield* events
          expect(before.at(-1)).toBe("session.approved done")
          expect(summaryOf(yield* approve(stranger))).toEqual([200, "session_approved", null])
          expect(yield* advance(Duration.hours(30))).toBe(0)
          expect(yield* strangers).toEqual([stranger])
          expect(yield* events).toEqual(before)
        }))

      it.effect("approving takes a queued sign-out back, and rejecting an approval: the last word counts", () =>
        Effect.gen(function*() {
          const { approve, mails, signIn, signOut, strangers, terminations } = yield* staged(0)
          const [kept, rejected] = [yield* signIn("Tablet"), yield* signIn("Laptop")]
          yield* signOut(kept)
          const before = (yield* mails("review_ended")).length
          expect(summaryOf(yield* approve(kept))[1]).toBe("session_approved")
          expect((yield* mails("review_ended")).length).toBe(before + 1)
          yield* approve(rejected)
          expect(summaryOf(yield* signOut(rejected))[1]).toBe("session_sign_out_queued")
          yield* advance(Duration.hours(26))
          expect([yield* strangers, yield* terminations]).toEqual([[kept], ["service rejected"]])
        }))

      it.effect("one that is approved before anybody has seen that it is gone was signed out by the service all the same", () =>
        Effect.gen(function*() {
          const { approve, events, signIn, signOut, terminations } = yield* staged()
          const stranger = yield* signIn()
          const sessions = yield* Sessions
          const dying = Sessions.of({ ...sessions, applySignOuts: () => Effect.die(new Error("gone")) })
          yield* Effect.provideService(signOut(stranger), Sessions, dying)
          expect(summaryOf(yield* approve(stranger))).toEqual([200, "session_approved", "protected"])
          expect(summaryOf(yield* approve(stranger))).toEqual([200, "session_approved", null])
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

      it.effect("S2.4-05: the service's own sessions, paused accounts and unknown ids are refused", () =>
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

      it.effect("4.11: a pause keeps why a queued sign-out was withheld, reports it, and a resume continues it", () =>
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
