import { describe, expect, layer } from "@effect/vitest"
import { Effect, Layer } from "effect"
import { TestClock } from "effect/testing"
import * as Worker from "../../../../src/layers/Worker.ts"
import * as Pages from "../../../support/http/pages.ts"
import { pglite } from "../../../support/postgres/database.ts"
import { staged } from "../../../support/protection/reviewing.ts"
import { advance } from "../../../support/protection/watching.ts"
import * as World from "../../../support/world.ts"

const path = "/console/reviews"
const accounts = "/console/accounts"

/** What the boxes of the page stand for. */
const boxes = ({ text }: Pages.Page) => [...text.matchAll(/name="session" value="([^"]*)"/g)].map(([, value]) => value!)

const stage = Effect.fnUntraced(function*(days?: number) {
  const watched = yield* staged(days)
  const cookie = yield* Pages.signIn(watched.id, watched.admins.owner.id)
  const visit = (to: string = path) => Pages.visit("GET", to, { cookie })
  return {
    ...watched,
    cookie,
    visit,
    /** Sends the form of the page as it stands, with what is ticked. */
    decide: Effect.fnUntraced(function*(decision: string, session: ReadonlyArray<string>, hidden = {}) {
      const form = Pages.formOf(yield* visit(), path)
      return yield* Pages.visit("POST", path, { cookie, form: { ...form.hidden, decision, session, ...hidden } })
    })
  }
})

describe("the page of sessions to review", () => {
  layer(Worker.layer().pipe(Layer.provideMerge(World.world(pglite))))((it) => {
    it.effect("an admin approves some of the sessions that wait in one step, and signs the others out in another", () =>
      Effect.gen(function*() {
        const { account, decide, events, id, signIn, strangers, terminations, visit } = yield* stage()
        const sessions = [yield* signIn("one"), yield* signIn("two"), yield* signIn("three")]
        const box = (session: string) => `${account.id}:${session}`
        const list = yield* visit(accounts)
        expect(list.text).toContain("3 sessions wait for review")
        expect(Pages.formOf(list, path).markup).toContain("Approve what is ticked")
        expect(boxes(yield* visit()).toSorted()).toEqual(sessions.map(box).toSorted())
        const approved = yield* decide("approve", sessions.slice(0, 2).map(box))
        expect([approved.status, approved.location]).toEqual([303, `${path}?done=approve`])
        const left = yield* visit(approved.location!)
        expect([boxes(left), left.text.includes("The sessions are approved")]).toEqual([[box(sessions[2]!)], true])
        const ended = yield* decide("sign-out", [box(sessions[2]!)])
        expect([ended.status, ended.location]).toEqual([303, `${path}?done=sign-out`])
        expect((yield* visit(ended.location!)).text).toContain("No session waits for review")
        expect((yield* strangers).toSorted()).toEqual(sessions.slice(0, 2).toSorted())
        expect(yield* terminations).toEqual(["service rejected"])
        const seen = yield* events
        expect(seen.filter((event) => event === "session.approved done").length).toBe(2)
        expect((yield* World.changes(id)).every(({ via }) => via === "console" || via === "background")).toBe(true)
      }))

    it.effect("what is refused of several is named with its account, and the rest is done", () =>
      Effect.gen(function*() {
        const { account, decide, platform, signIn, strangers } = yield* stage()
        const gone = yield* signIn("gone")
        const kept = yield* signIn("kept")
        yield* platform.logOut(account.userId, gone)
        const page = yield* decide("sign-out", [`${account.id}:${gone}`, `${account.id}:${kept}`])
        expect(page.status).toBe(404)
        expect(page.text).toContain("One session was left as it is")
        expect(page.text).toContain("<bdi dir=\"auto\">Ada Lovelace</bdi>: ")
        // An answer to a form is not reloaded: that would send the form again.
        expect(page.text).not.toContain("<script")
        expect(yield* strangers).not.toContain(kept)
      }))

    it.effect("nothing ticked, too much, another decision and a form of another page change nothing", () =>
      Effect.gen(function*() {
        const { account, admins, decide, id, signIn, strangers } = yield* stage()
        const session = yield* signIn()
        const box = `${account.id}:${session}`
        const nothing = yield* decide("approve", [])
        expect([nothing.status, nothing.text.includes("Tick at least one session.")]).toEqual([400, true])
        const many = yield* decide("approve", [box, ...Array.from({ length: 25 }, (_, n) => `${account.id}:${n}`)])
        expect([many.status, many.text.includes("At most 25 sessions")]).toEqual([400, true])
        expect((yield* decide("toString", [box])).status).toBe(403)
        expect((yield* decide("approve", [box], { csrf: "" })).status).toBe(403)
        expect((yield* decide("approve", ["nonsense"])).status).toBe(400)
        expect(yield* strangers).toEqual([session])
        expect((yield* World.journal(id)).some(({ action }) => action === "session.approved")).toBe(false)
        const cookie = yield* Pages.signIn(id, admins.billing.id)
        const billing = yield* Pages.visit("GET", path, { cookie })
        expect([billing.status, billing.text.includes("not for your role")]).toEqual([403, true])
      }))

    it.effect("a sign-out that the messenger does not allow yet says so, and until when, wherever it is shown", () =>
      Effect.gen(function*() {
        const { account, decide, signIn, visit } = yield* stage(0.5)
        const session = yield* signIn()
        const until = "until <time datetime=\"2026-03-03T00:00:00.000Z\">3 March 2026 at 00:00 UTC</time>"
        // The form says so before anything is sent.
        expect((yield* visit(`${accounts}/${account.id}`)).text).toContain(until)
        yield* decide("sign-out", [`${account.id}:${session}`])
        for (const page of [path, accounts, `${accounts}/${account.id}`]) {
          const { text } = yield* visit(page)
          expect([page, text.includes(until), text.includes("Being signed out")]).toEqual([page, true, false])
          expect(text).toMatch(/is-danger">Signed out <time [^>]*>in 11 hours</)
        }
      }))

    it.effect("a sign-out that the messenger has refused says when it is sent again, and then that it is under way", () =>
      Effect.gen(function*() {
        const { account, admins, id, platform, signIn } = yield* stage()
        yield* signIn()
        yield* platform.script({
          answer: { _tag: "Busy", seconds: 90 },
          operation: "sign_out",
          userId: account.userId,
          times: 9
        })
        yield* advance("12 hours")
        const cookie = yield* Pages.signIn(id, admins.owner.id)
        const { text } = yield* Pages.visit("GET", path, { cookie })
        expect(text).toMatch(/They are sent again from <time [^>]*>3 March 2026 at 00:0\d UTC<\/time> on\./)
        yield* TestClock.adjust("2 minutes")
        expect((yield* Pages.visit("GET", path, { cookie })).text).toContain("Being signed out")
        yield* platform.clearScripts
      }))

    it.effect("a page that reloads itself keeps no session from ending, and takes no notice away that nobody has read", () =>
      Effect.gen(function*() {
        const { admins, id } = yield* stage()
        const email = yield* Pages.emailOf(id, admins.owner.id)
        const cookie = Pages.cookiesOf(
          yield* Pages.signInWith({ organization: id, email, password: Pages.password })
        )
        const visit = (to: string) => Pages.visit("GET", to, { cookie })
        const { headers, text } = yield* visit(path)
        const [, script] = /<script src="([^"]*)" defer>/.exec(text) ?? []
        expect(headers.get("content-security-policy")).toContain("script-src http://localhost/console/refresh.js;")
        const served = yield* Pages.visit("GET", script!)
        expect([served.status, served.headers.get("content-type")]).toEqual([200, "text/javascript; charset=utf-8"])
        yield* World.send("POST", "/v1/api-keys", {
          key: admins.owner.key,
          body: { label: "Made elsewhere", scopes: ["org:read"] }
        })
        expect((yield* visit(`${accounts}?unattended=1`)).text).not.toContain("Made elsewhere")
        expect((yield* visit(accounts)).text).toContain("Made elsewhere")
        for (let minutes = 0; minutes < 28; minutes += 7) {
          yield* TestClock.adjust("7 minutes")
          expect((yield* visit(`${path}?unattended=1`)).status).toBe(200)
        }
        yield* TestClock.adjust("2 minutes")
        expect((yield* visit(`${path}?unattended=1`)).status).toBe(303)
      }))
  })
})
