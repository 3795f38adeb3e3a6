import { describe, expect, layer } from "@effect/vitest"
import { Effect } from "effect"
import { TestClock } from "effect/testing"
import * as Deletions from "../support/archive/deletions.ts"
import * as Outbox from "../support/mail/outbox.ts"
import { act } from "../support/operator/operator.ts"
import { postgres } from "../support/postgres/database.ts"
import * as World from "../support/world.ts"

describe("the commands about support requests and the status of organizations", () => {
  layer(World.world(postgres))((it) => {
    it.effect("answer a request, mail the answer to who asked, and close it, journaled without its text", () =>
      Effect.gen(function*() {
        const { admins, id } = yield* World.makeOrganization()
        const request = yield* World.makeSupportRequest(id, admins.billing.id)
        const named = { organization: id, number: 1 }
        expect(yield* act((requests) => requests.support_answer({ ...named, number: 2, answer: "No." }))).toBe(
          `${id} has no request 2.`
        )
        expect(yield* act((requests) => requests.support_answer({ ...named, answer: "From today on." }))).toMatchObject(
          {
            id: request,
            state: "answered",
            answer: "From today on."
          }
        )
        expect(yield* Outbox.waiting(id)).toMatchObject([
          { kind: "support_answer", text: expect.stringContaining("From today on.") }
        ])
        expect((yield* World.get(`/v1/support-requests/${request}`, admins.billing.key)).body.answer).toBe(
          "From today on."
        )
        yield* act((requests) => requests.support_close(named))
        yield* act((requests) => requests.support_close(named))
        expect(yield* act((requests) => requests.support_answer({ ...named, answer: "Again." }))).toBe(
          "Request 1 is closed."
        )
        const listed = yield* act((requests) => requests.support_list({ organization: id }))
        expect(listed.requests).toMatchObject([{ number: 1, state: "closed" }])
        const events = yield* World.journal(id)
        expect(events.map(({ action }) => action)).toEqual(["support_request.answered", "support_request.closed"])
        expect(JSON.stringify(events)).not.toContain("From today on")
      }))

    it.effect("5.5: places a legal hold on an archive and releases it, each journaled once, and nothing is deleted meanwhile", () =>
      Effect.gen(function*() {
        const { admins, id } = yield* World.makeOrganization({ archive_first_record_at: new Date(0) })
        const hold = (held: boolean) => act((requests) => requests.organizations_hold({ organization: id, held }))
        const phase = Deletions.phaseOf(admins.owner.key)
        const remove = Deletions.deleteWhole(id, admins.owner.key)
        expect(yield* hold(true)).toMatchObject({ archive_held_at: expect.any(Date) })
        yield* hold(true)
        expect(yield* phase).toBe("held")
        expect(World.refusal(yield* remove)).toEqual([409, "archive_held"])
        expect(yield* hold(false)).toMatchObject({ archive_held_at: null })
        yield* hold(false)
        expect(yield* phase).toBe("active")
        expect((yield* remove).status).toBe(200)
        expect((yield* World.journal(id)).map(({ action, outcome }) => [action, outcome])).toEqual([
          ["archive.held", "done"],
          ["archive.deletion_started", "refused"],
          ["archive.released", "done"],
          ["archive.deletion_started", "done"]
        ])
      }))

    it.effect("suspend, activate, close and reopen an organization, each journaled once, and reopen for 30 days", () =>
      Effect.gen(function*() {
        const { admins, id } = yield* World.makeOrganization()
        const stand = (act_: "suspend" | "activate" | "close" | "reopen") =>
          act((requests) => requests.organizations_change_status({ organization: id, act: act_ }))
        expect(yield* stand("suspend")).toMatchObject({ status: "suspended" })
        expect(yield* stand("suspend")).toMatchObject({ status: "suspended" })
        expect(yield* stand("activate")).toMatchObject({ status: "active" })
        expect(yield* stand("close")).toMatchObject({ status: "closed" })
        expect(yield* act((requests) => requests.organizations_list({}))).toMatchObject({
          organizations: expect.arrayContaining([expect.objectContaining({ id, status: "closed" })])
        })
        expect(World.refusal(yield* World.get("/v1/organization", admins.owner.key))).toEqual([
          403,
          "organization_closed"
        ])
        yield* TestClock.adjust("30 days")
        expect(yield* stand("reopen")).toMatchObject({ status: "active" })
        expect((yield* World.get("/v1/organization", admins.owner.key)).status).toBe(200)
        yield* stand("close")
        yield* TestClock.adjust("31 days")
        expect(yield* stand("reopen")).toMatch(/^It was closed more than 30 days ago/)
        expect((yield* World.journal(id)).map(({ action }) => action)).toEqual([
          "organization.suspended",
          "organization.activated",
          "organization.closed",
          "organization.reopened",
          "organization.closed"
        ])
      }))
  })
})
