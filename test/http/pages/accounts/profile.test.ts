import { describe, expect, layer } from "@effect/vitest"
import { Effect } from "effect"
import { TestClock } from "effect/testing"
import type { Role } from "../../../../src/domain/people/Access.ts"
import { SimulatedPlatform } from "../../../../src/layers/messenger/simulated/SimulatedPlatform.ts"
import * as Pages from "../../../support/http/pages.ts"
import { postgres } from "../../../support/postgres/database.ts"
import { established, start } from "../../../support/protection/watched.ts"
import * as World from "../../../support/world.ts"

const staged = Effect.fnUntraced(function*(role: Role = "owner") {
  yield* TestClock.setTime(start)
  const platform = yield* SimulatedPlatform
  yield* platform.clearScripts
  const { admins, id } = yield* World.makeOrganization()
  const person = yield* World.makeLiveAccount(id, {
    first_name: "Ada",
    last_name: "Lovelace",
    about: "First line\nsecond"
  }, { facts: established })
  const cookie = yield* Pages.signIn(id, admins[role].id)
  const own = `/console/accounts/${person.id}/profile`
  const see = (path: string = own) => Pages.visit("GET", path, { cookie })
  const send = Effect.fnUntraced(function*(action: string, form: Record<string, string> = {}) {
    const { hidden } = Pages.formOf(yield* see(), `${own}/${action}`)
    return yield* Pages.visit("POST", `${own}/${action}`, { cookie, form: { ...hidden, ...form } })
  })
  const profile = Effect.map(
    World.get(`/v1/accounts/${person.id}/messenger-profile`, admins.owner.key),
    ({ body }) => body
  )
  return { account: person.id, admins, cookie, id, own, platform, profile, see, send, userId: person.userId }
})

describe("the profile of an account at the console", () => {
  layer(World.world(postgres))((it) => {
    it.effect("an admin changes name, bio and username on the messenger", () =>
      Effect.gen(function*() {
        const { account, id, own, profile, see, send } = yield* staged()
        expect((yield* see(`/console/accounts/${account}`)).text).toContain(`href="${own}"`)
        const first = yield* see()
        expect(first.text).toContain("value=\"Lovelace\"")
        expect(first.text).toContain(">\nFirst line\nsecond</textarea>")
        const unchanged = { first_name: "Ada", last_name: "Lovelace", about: "First line\r\nsecond" }
        expect((yield* send("texts", unchanged)).location).toBe(`${own}?done=texts`)
        expect(yield* World.changes(id)).toEqual([])
        const texts = yield* send("texts", { first_name: "Ada <b>", last_name: "", about: "One\r\ntwo" })
        expect([texts.status, texts.location]).toEqual([303, `${own}?done=texts`])
        expect((yield* send("username", { username: " @ada_lovelace" })).location).toBe(`${own}?done=username`)
        expect(yield* profile).toMatchObject({
          first_name: "Ada <b>",
          last_name: null,
          about: "One\ntwo",
          username: "ada_lovelace"
        })
        expect((yield* see(`${own}?done=texts`)).text).toContain("The profile is changed on the messenger.")
        expect((yield* see(`${own}?done=toString`)).text).not.toContain("class=\"good\"")
        const done = (yield* World.changes(id)).filter(({ outcome }) => outcome === "done")
        expect(done.map(({ action, via }) => [action, via])).toEqual([
          ["profile.updated", "console"],
          ["profile.username_set", "console"]
        ])
      }))

    it.effect("what the messenger or the service refuses is said at its field, with what was typed", () =>
      Effect.gen(function*() {
        const { send } = yield* staged()
        const texts = { first_name: "Ada", last_name: "Lovelace", about: "" }
        const cases: ReadonlyArray<readonly [string, Record<string, string>, string]> = [
          ["texts", { ...texts, last_name: "x".repeat(65) }, "href=\"#last_name\""],
          ["texts", { ...texts, about: "x".repeat(71) }, "href=\"#about\""],
          ["username", { username: "1" }, "href=\"#username\""]
        ]
        for (const [action, form, text] of cases) {
          const page = yield* send(action, form)
          expect([action, page.status, page.text.includes(text)]).toEqual([action, 400, true])
          expect(page.text).toContain(Object.values(form).at(-1) ?? "")
        }
      }))

    it.effect("an admin of another role sees none, another account is hidden, and an unread profile has no form", () =>
      Effect.gen(function*() {
        const { account, admins, cookie, id, own, platform, see, send, userId } = yield* staged()
        const status = (role: Role) =>
          Effect.flatMap(
            Pages.signIn(id, admins[role].id),
            (cookie) => Effect.map(Pages.visit("GET", own, { cookie }), ({ status }) => status)
          )
        expect([yield* status("billing"), yield* status("archive"), yield* status("admin")]).toEqual([403, 403, 404])
        const billing = yield* Pages.signIn(id, admins.billing.id)
        expect((yield* Pages.visit("GET", `/console/accounts/${account}`, { cookie: billing })).text).not.toContain(own)
        const { hidden } = Pages.formOf(yield* see(), `${own}/username`)
        const foreign = yield* Pages.visit("POST", `${own}/texts`, { cookie, form: hidden })
        expect(foreign.status).toBe(403)
        yield* platform.revokeService(userId)
        const unread = yield* see()
        expect([unread.status, unread.text.includes("does not show the profile now"), unread.text.includes(`${own}/`)])
          .toEqual([200, true, false])
        expect(yield* Effect.exit(send("username", { username: "ada_lovelace" }))).toMatchObject({ _tag: "Failure" })
      }))
  })
})
