import { describe, expect, layer } from "@effect/vitest"
import { Clock, Duration, Effect } from "effect"
import { TestClock } from "effect/testing"
import { eventStreamLife, eventStreamsOfSession } from "../../../../src/domain/Limits.ts"
import { ArchiveExports } from "../../../../src/ports/archive/ArchiveExports.ts"
import { makeExported } from "../../../support/archive/exportedArchive.ts"
import * as Fixtures from "../../../support/fixtures.ts"
import * as Pages from "../../../support/http/pages.ts"
import { pglite } from "../../../support/postgres/database.ts"
import * as World from "../../../support/world.ts"

const path = "/console/archive-exports"

const stage = Effect.gen(function*() {
  const exported = yield* makeExported
  const { admins, create, id } = exported
  const cookie = yield* Pages.signIn(id, admins.owner.id)
  const { body: made } = yield* create("json")
  const downloads = yield* ArchiveExports
  const by = { adminId: admins.owner.id, adminName: "Ada <b>" }
  const begin = Fixtures.within(id, downloads.download(id, made.id, 1, by))
  const at = `${path}/${made.id}`
  return { ...exported, at, begin, cookie, made }
})

/** An open stream of events: what has come of it since it was read last. */
const open = Effect.fnUntraced(function*(at: string, cookie: string, headers: Record<string, string> = {}) {
  const handler = yield* World.handlerHere
  const { host, origin } = new URL(World.baseUrl)
  const response = yield* Effect.promise(() =>
    handler(new Request(`${origin}${at}/events`, { headers: { host, cookie, ...headers } }))
  )
  const reader = response.body?.getReader()
  let text = ""
  let done = false
  const readOn = async (): Promise<void> => {
    const read = await reader?.read()
    done = read?.done ?? true
    text += read?.value === undefined ? "" : Buffer.from(read.value).toString()
    if (!done) await readOn()
  }
  const reading = readOn().catch(() => {})
  const next = Effect.promise(async () => {
    for (let turns = 0; turns < 20; turns++) await new Promise((resolve) => setTimeout(resolve, 1))
    const found = text
    text = ""
    return found
  })
  const after = (seconds: number) =>
    Effect.gen(function*() {
      let found = yield* next
      for (let second = 0; second < seconds; second++) {
        yield* TestClock.adjust("1 second")
        found += yield* next
      }
      return found
    })
  const leave = Effect.promise(async () => {
    await reader?.cancel()
    await reading
  })
  return { after, isDone: () => done, leave, response }
})

const eventsIn = (text: string): ReadonlyArray<Record<string, unknown>> =>
  [...text.matchAll(/^event: parts\ndata: (.*)$/gmu)].flatMap(([, data = ""]) => JSON.parse(data))

describe("the events of an export's page", () => {
  layer(World.world(pglite))((it) => {
    it.effect("say how far a download is as it is kept, whatever process makes it, and nothing while nothing changes; a page without a script says the same", () =>
      Effect.gen(function*() {
        const { at, begin, cookie, id } = yield* stage
        const events = yield* open(at, cookie, { "sec-fetch-site": "same-origin" })
        expect([events.response.status, events.response.headers.get("content-type")]).toEqual([
          200,
          "text/event-stream"
        ])
        expect(yield* events.after(2)).toBe("retry: 2000\n\n")
        const keep = yield* begin
        const start = yield* Clock.currentTimeMillis
        const report = (bytes: number, end: "connection_lost" | null) =>
          Fixtures.within(id, keep({ bytes, messages: 1, files: 0, at: new Date(start + bytes), end }))
        yield* report(6000, null)
        const [running] = eventsIn(yield* events.after(1))
        expect(running).toMatchObject({ number: 1, running: true, done: 6000, sent: null })
        expect(running?.["text"]).toMatch(
          /^Being sent to \u2068Ada <b>\u2069: 6 kB of about .* kB, 1 of 3 messages, 0 of 3 files\. About .* more\.$/u
        )
        expect(yield* events.after(3)).toBe("")
        const withoutScript = (query: string) =>
          Effect.map(Pages.visit("GET", `${at}/progress${query}`, { cookie }), ({ headers, text }) => ({
            again: headers.get("refresh"),
            says: text.includes("Being sent to") && text.includes("<progress aria-label=\"Part 1, bytes\"")
          }))
        expect(yield* withoutScript("")).toEqual({ again: `5; url=${at}/progress?unattended=1`, says: true })
        expect(yield* withoutScript("?stay=1")).toEqual({ again: null, says: true })
        yield* report(7000, "connection_lost")
        expect(yield* withoutScript("")).toEqual({ again: null, says: false })
        const [ended] = eventsIn(yield* events.after(1))
        expect(ended).toMatchObject({ running: false })
        expect(ended?.["text"]).toContain("ended early after 7 kB: the connection was lost")
        // A process that went on writing is not kept over the end.
        yield* report(8000, null)
        expect(eventsIn(yield* events.after(1))).toEqual([])
        expect(yield* events.after(30)).toContain("event: end\ndata: \n\n")
        expect(events.isDone()).toBe(true)
      }))

    it.effect("end with the session, with its reach and after their time, and are refused beyond as many as may be open", () =>
      Effect.gen(function*() {
        const { admins, at, begin, cookie, id } = yield* stage
        const keep = yield* begin
        const now = yield* Clock.currentTimeMillis
        const later = new Date(now + Duration.toMillis(eventStreamLife))
        yield* Fixtures.within(id, keep({ bytes: 1, messages: 0, files: 0, at: later, end: null }))
        const refused = (to: string, by: string, headers = {}) =>
          Effect.map(open(to, by, headers), ({ response }) => response.status)
        expect(yield* refused(at, "")).toBe(401)
        expect(yield* refused(at, cookie, { "sec-fetch-site": "cross-site" })).toBe(400)
        expect(yield* refused(`${path}/${admins.owner.id}`, cookie)).toBe(404)
        expect(yield* refused(at, yield* Pages.signIn(id, admins.archive.id))).toBe(404)
        const [first, second] = yield* Effect.replicateEffect(open(at, cookie), eventStreamsOfSession)
        expect(yield* refused(at, cookie)).toBe(429)
        yield* first?.leave ?? Effect.void
        const third = yield* open(at, cookie)
        const other = yield* open(at, yield* Pages.signIn(id, admins.superadmin.id))
        expect([third.response.status, other.response.status]).toEqual([200, 200])

        yield* World.set(id, "admin", admins.superadmin.id, { role: "billing" })
        expect(yield* other.after(1)).toContain("event: end\ndata: ")
        expect([other.isDone(), third.isDone()]).toEqual([true, false])
        const page = yield* Pages.visit("GET", "/console/security", { cookie })
        yield* Pages.visit("POST", "/console/sign-out", {
          cookie,
          form: Pages.formOf(page, "/console/sign-out").hidden
        })
        expect(yield* third.after(1)).toContain("event: end\ndata: Your session has ended. Sign in again.\n")
        expect([second?.isDone(), third.isDone()]).toEqual([true, true])

        const last = yield* open(at, yield* Pages.signIn(id, admins.owner.id))
        yield* last.after(1)
        yield* TestClock.adjust(eventStreamLife)
        expect([yield* last.after(1), last.isDone()]).toEqual([":\n\n", true])
      }))
  })
})
