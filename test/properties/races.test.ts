import { describe, expect, it } from "@effect/vitest"
import { Effect } from "effect"
import * as crypto from "node:crypto"
import { verify } from "../../src/layers/sql/journal/JournalChain.ts"
import * as Fixtures from "../support/fixtures.ts"
import { replicas } from "../support/replicas.ts"
import * as World from "../support/world.ts"

const atOnce = { concurrency: "unbounded" } as const

const statuses = (answers: ReadonlyArray<World.Answer>) => answers.map(({ status }) => status).toSorted()

/** The journal as it is stored; it has no gap and its chain holds. */
const journal = Effect.fnUntraced(function*(organizationId: string) {
  const events = yield* World.journal(organizationId)
  expect(events.map(({ sequence }) => sequence)).toEqual(events.map((_, index) => index + 1))
  expect(yield* Fixtures.within(organizationId, verify(organizationId))).toMatchObject({ ok: true })
  return events
})

describe("races on PostgreSQL", () => {
  it.live("two pauses at once give one 200, one 409 and one entry, on one replica and on two", () =>
    Effect.gen(function*() {
      const [one, two] = yield* replicas
      const { admins, id } = yield* one(World.makeOrganization())
      for (const other of [one, two]) {
        for (let round = 0; round < 8; round++) {
          const account = yield* one(World.makeAccount(id))
          const pause = World.post(`/v1/accounts/${account}/pause`, admins.owner.key)
          const answers = yield* Effect.all([one(pause), other(pause)], atOnce)
          expect(statuses(answers)).toEqual([200, 409])
          const entries = (yield* one(journal(id))).filter(({ account_id }) => account_id === account)
          expect(entries.map(({ action }) => action)).toEqual(["account.paused"])
        }
      }
    }))

  it.live("a pause and a resume at once are one after the other, each with its entry or its refusal", () =>
    Effect.gen(function*() {
      const [one, two] = yield* replicas
      const { admins, id } = yield* one(World.makeOrganization())
      const account = yield* one(World.makeAccount(id))
      const ask = (action: string) => World.post(`/v1/accounts/${account}/${action}`, admins.owner.key)
      for (let round = 0; round < 10; round++) {
        yield* Effect.all([one(ask("pause")), two(ask("resume")), two(ask("pause")), one(ask("resume"))], atOnce)
      }
      const actions = (yield* one(journal(id))).map(({ action }) => action)
      expect(actions.length).toBeGreaterThan(5)
      expect(actions).toEqual(actions.map((_, index) => index % 2 === 0 ? "account.paused" : "account.resumed"))
    }))

  it.live("fifty label changes of one account at once are all done, and journaled in the order that they took", () =>
    Effect.gen(function*() {
      const [one, two] = yield* replicas
      const { admins, id } = yield* one(World.makeOrganization())
      const account = yield* one(World.makeAccount(id))
      const labels = Array.from({ length: 50 }, (_, index) => `Label ${index}`)
      const answers = yield* Effect.forEach(labels, (role_label, index) =>
        (index % 2 === 0 ? one : two)(
          World.put(`/v1/accounts/${account}/role-label`, admins.owner.key, { role_label })
        ), atOnce)
      expect(new Set(statuses(answers))).toEqual(new Set([200]))
      const events = yield* one(journal(id))
      expect(events.map(({ details }) => details["role_label"]).toSorted()).toEqual(labels.toSorted())
      const { body } = yield* two(World.get(`/v1/accounts/${account}`, admins.owner.key))
      expect(events.at(-1)?.details).toEqual({ role_label: body.role_label })
      const times = events.map(({ at }) => at.getTime())
      expect(times).toEqual(times.toSorted((a, b) => a - b))
    }))

  it.live("changes in many accounts at once are all done, and one organization's do not wait for another's", () =>
    Effect.gen(function*() {
      const [one, two] = yield* replicas
      const organizations = yield* one(Effect.forEach([1, 2, 3], () => World.makeOrganization()))
      const accounts = yield* one(
        Effect.forEach(
          organizations,
          ({ id }) => Effect.forEach(Array.from({ length: 10 }), () => World.makeAccount(id))
        )
      )
      const asked = organizations.flatMap(({ admins }, place) =>
        (accounts[place] ?? []).flatMap((account, index) => [
          World.put(`/v1/accounts/${account}/role-label`, admins.owner.key, { role_label: `L${index}` }),
          World.post(`/v1/accounts/${account}/pause`, admins.superadmin.key)
        ])
      )
      const answers = yield* Effect.forEach(asked, (ask, index) => (index % 2 === 0 ? one : two)(ask), atOnce)
      expect(new Set(statuses(answers))).toEqual(new Set([200]))
      for (const [place, { id }] of organizations.entries()) {
        const events = yield* two(journal(id))
        expect(events.map(({ account_id, action }) => `${account_id} ${action}`).toSorted()).toEqual(
          (accounts[place] ?? []).flatMap((account) => [
            `${account} account.paused`,
            `${account} account.role_label_set`
          ]).toSorted()
        )
      }
    }))

  it.live("changes on the messenger at once keep their intents and outcomes together", () =>
    Effect.gen(function*() {
      const [one, two] = yield* replicas
      const { admins, id } = yield* one(World.makeOrganization())
      const account = yield* one(World.makeLiveAccount(id))
      const answers = yield* Effect.forEach(
        Array.from({ length: 12 }, (_, index) => `Name ${index}`),
        (first_name, index) =>
          (index % 2 === 0 ? one : two)(
            World.patch(`/v1/accounts/${account.id}/messenger-profile`, admins.owner.key, { first_name })
          ),
        atOnce
      )
      expect(new Set(statuses(answers))).toEqual(new Set([200]))
      const events = yield* one(journal(id))
      const closed = events.filter(({ outcome }) => outcome === "done").map(({ closes }) => closes)
      const intents = events.filter(({ outcome }) => outcome === "pending").map(({ sequence }) => sequence)
      expect(closed.toSorted()).toEqual(intents.toSorted())
      expect(intents.length).toBe(12)
      const profile = yield* two(World.get(`/v1/accounts/${account.id}/messenger-profile`, admins.owner.key))
      const { body } = yield* one(World.get(`/v1/accounts/${account.id}`, admins.owner.key))
      expect(body.name).toBe(`${profile.body.first_name} ${profile.body.last_name}`)
    }))

  it.live("changes of every kind at once do not stand in each other's way", () =>
    Effect.gen(function*() {
      const [one, two] = yield* replicas
      for (let round = 0; round < 4; round++) {
        const { admins, id } = yield* one(World.makeOrganization())
        const still = yield* one(World.makeAccount(id))
        const live = yield* one(World.makeLiveAccount(id))
        const asked = Array.from({ length: 5 }, (_, index) => [
          World.put("/v1/settings/notifications", admins.owner.key, {
            recipients: index % 2 === 0 ? "owner_superadmins" : "owner"
          }),
          World.put("/v1/me/mail-preferences", admins.admin.key, {
            security: true,
            storage: true,
            news: true,
            offers: index % 2 === 0
          }),
          World.post(`/v1/accounts/${still}/pause`, admins.superadmin.key),
          World.post(`/v1/accounts/${still}/resume`, admins.superadmin.key),
          World.put(`/v1/accounts/${live.id}/role-label`, admins.owner.key, { role_label: `L${index}` }),
          World.patch(`/v1/accounts/${live.id}/messenger-profile`, admins.owner.key, { about: `A${index}` }),
          World.get("/v1/accounts", admins.billing.key),
          World.get("/v1/journal", admins.billing.key)
        ]).flat()
        const answers = yield* Effect.forEach(asked, (ask, index) => (index % 3 === 0 ? one : two)(ask), atOnce)
        expect(statuses(answers).filter((status) => status !== 200 && status !== 409)).toEqual([])
        yield* one(journal(id))
      }
    }))

  it.live("preferences and recipients that are set at once are journaled once for each that changed something", () =>
    Effect.gen(function*() {
      const [one, two] = yield* replicas
      const { admins, id } = yield* one(World.makeOrganization())
      for (let round = 0; round < 12; round++) {
        const recipients = round % 2 === 0 ? "owner_superadmins" : "owner"
        const set = World.put("/v1/settings/notifications", admins.owner.key, { recipients })
        const choices = { security: false, storage: false, news: true, offers: round % 2 === 0 }
        const choose = World.put("/v1/me/mail-preferences", admins.admin.key, choices)
        const answers = yield* Effect.all(
          [one(set), two(choose), two(set), one(choose), one(set), two(choose)],
          atOnce
        )
        expect(new Set(statuses(answers))).toEqual(new Set([200]))
        expect((yield* one(journal(id))).slice(2 * round).map(({ action }) => action).toSorted()).toEqual([
          "mail_preferences.set",
          "notification_recipients.set"
        ])
      }
    }))

  it.live("a key and a connection that are revoked several times at once are revoked once, with one entry", () =>
    Effect.gen(function*() {
      const [one, two] = yield* replicas
      const { admins, id } = yield* one(World.makeOrganization())
      const connection = {
        admin_id: admins.owner.id,
        kind: "token",
        label: "Token",
        mode: "cloud",
        scopes: ["org:read"],
        scope_type: "accounts",
        created_at: new Date(0)
      }
      for (let round = 0; round < 8; round++) {
        const key = yield* one(World.makeKey(id, admins.owner.id))
        const connected = crypto.randomUUID()
        yield* one(World.addRows("ai_connection", id, [{ ...connection, id: connected }]))
        for (const path of [`/v1/api-keys/${key.id}`, `/v1/ai-connections/${connected}`]) {
          const revoke = World.send("DELETE", path, { key: admins.owner.key })
          const answers = yield* Effect.all([one(revoke), two(revoke), one(revoke), two(revoke)], atOnce)
          expect(statuses(answers)).toEqual([200, 200, 200, 200])
          expect(new Set(answers.map(({ body }) => body.revoked_at)).size).toBe(1)
        }
        const targets = (yield* one(World.journal(id))).map(({ target_id }) => target_id)
        expect(targets.filter((target) => target === key.id || target === connected)).toEqual([key.id, connected])
      }
    }))
})
