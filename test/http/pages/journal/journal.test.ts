import { describe, expect, layer } from "@effect/vitest"
import { Effect } from "effect"
import { TestClock } from "effect/testing"
import * as Actor from "../../../../src/domain/journal/Actor.ts"
import { type ActionName, journalAction, journalEntry } from "../../../../src/domain/journal/JournalEntry.ts"
import { OrganizationId, type Role } from "../../../../src/domain/people/Access.ts"
import { Journal } from "../../../../src/ports/journal/Journal.ts"
import * as Fixtures from "../../../support/fixtures.ts"
import * as Pages from "../../../support/http/pages.ts"
import { postgres } from "../../../support/postgres/database.ts"
import { at, day, now } from "../../../support/stored.ts"
import * as World from "../../../support/world.ts"

const path = "/console/journal"

/** An organization in which a label was set, an account paused, and that again a day later. */
const stage = Effect.fnUntraced(function*(role: Role = "owner") {
  yield* TestClock.setTime(now.getTime())
  const { admins, id } = yield* World.makeOrganization()
  const account = yield* World.makeAccount(id, { first_name: "Ada", last_name: null })
  const other = yield* World.makeAccount(id, { first_name: "Mary", last_name: null })
  yield* World.put(`/v1/accounts/${account}/role-label`, admins.owner.key, { role_label: "<b>Pilot</b>" })
  yield* World.post(`/v1/accounts/${account}/pause`, admins.superadmin.key)
  yield* TestClock.setTime(at(day).getTime())
  yield* World.post(`/v1/accounts/${other}/pause`, admins.superadmin.key)
  const cookie = yield* Pages.signIn(id, admins[role].id)
  const visit = (query = "") => Pages.visit("GET", `${path}${query}`, { cookie })
  const shown = (query = "") =>
    Effect.map(
      visit(query),
      ({ text }) => [...text.matchAll(/<h3>([^<]*)/g)].map(([, action]) => action?.replace(/: $/, ""))
    )
  return { id, admins, account, other, visit, shown }
})

const all = ["Signed in to the console", "Account paused", "Account paused", "Account role label set"]

describe("the journal's page", () => {
  layer(World.world(postgres))((it) => {
    it.effect("events are read by what, who, how, when and which account", () =>
      Effect.gen(function*() {
        const { account, admins, shown } = yield* stage()
        const day0 = now.toISOString().slice(0, 10)
        const day1 = at(day).toISOString().slice(0, 10)
        const cases: ReadonlyArray<readonly [string, ReadonlyArray<string | undefined>]> = [
          ["", all],
          ["?action=account.paused", all.slice(1, 3)],
          ["?action=account.*", all.slice(1)],
          [`?admin=${admins.superadmin.id}`, all.slice(1, 3)],
          [`?account=${account}`, all.slice(2)],
          [`?since=${day1}`, all.slice(0, 2)],
          [`?until=${day0}`, all.slice(2)],
          ["?outcome=failed", []],
          // What nobody can mean narrows nothing.
          ["?action=x%27&outcome=constructor&admin=1&account=2&since=2026-02-30&until=soon&before=y", all]
        ]
        for (const [query, events] of cases) expect([query, yield* shown(query)]).toEqual([query, events])
      }))

    it.effect("an event shows everything that it holds, escaped, and the chain its last sequence and head", () =>
      Effect.gen(function*() {
        const { account, admins, id, visit } = yield* stage()
        const { text } = yield* visit()
        const tail = yield* World.get("/v1/journal/tail?after_sequence=0", admins.owner.key)
        const last = tail.body.data.at(-1)
        expect(text).toContain(`<code>${last.sequence}</code>`)
        expect(text).toContain(`<dt>Head</dt><dd><code>${tail.body.head_hash}</code>`)
        for (const { hash, request_id } of tail.body.data) {
          expect([text.includes(hash), text.includes(request_id)]).toEqual([true, true])
        }
        expect(text).toContain("Role label: <bdi dir=\"auto\">&lt;b&gt;Pilot&lt;/b&gt;</bdi>")
        expect(text).toContain(`<a href="/console/accounts/${account}"><bdi dir="auto">Ada</bdi></a>`)
        expect(text).toContain(`href="${path}?admin=${admins.superadmin.id}"`)
        expect(text).not.toMatch(/<b>|<script| style=/)
        expect((yield* World.changes(id)).length).toBe(3)
      }))

    it.effect("an account that was deleted is no link, in its events and where they are chosen", () =>
      Effect.gen(function*() {
        const { admins, id, visit } = yield* stage()
        const { key } = admins.owner
        const account = yield* World.makeAccount(id, { first_name: "Grace", facts: { offboarded_at: new Date(0) } })
        yield* World.put(`/v1/accounts/${account}/role-label`, key, { role_label: "Pilot" })
        const link = `<a href="/console/accounts/${account}">`
        expect((yield* visit(`?account=${account}`)).text).toContain(`Only events of ${link}`)
        const { body: { phone_number } } = yield* World.get(`/v1/accounts/${account}`, key)
        const confirm_phrase = `delete ${phone_number.replaceAll(/\D/g, "")}`
        yield* World.send("POST", `/v1/accounts/${account}/delete`, { key, body: { confirm_phrase } })
        const { text } = yield* visit(`?account=${account}`)
        expect(text).toContain("Only events of an account that cannot be opened any more")
        for (const action of ["Account deleted with its archive", "Account role label set"]) {
          expect(text).toContain(`<h3>${action}: an account that cannot be opened any more</h3>`)
        }
        expect(text).not.toContain(link)
      }))

    it.effect("departments, admins and times are shown by name and date, with the id and the exact time beside them", () =>
      Effect.gen(function*() {
        const { account, admins, id, visit } = yield* stage()
        const department = yield* World.makeDepartment(id, "Sales <b>")
        const { key } = admins.owner
        yield* World.put(`/v1/accounts/${account}/department`, key, { department_id: department })
        yield* World.put(`/v1/admins/${admins.admin.id}/role`, key, {
          role: "billing",
          current_password: Pages.password
        })
        const { text } = yield* visit()
        const email = yield* Pages.emailOf(id, admins.admin.id)
        for (
          const part of [
            "Department: <bdi dir=\"auto\">Sales &lt;b&gt;</bdi>",
            `<dt>Department</dt><dd><bdi dir="auto">Sales &lt;b&gt;</bdi> <bdi><code>${department}</code></bdi></dd>`,
            `<dt>Admin</dt><dd><bdi dir="auto">${email}</bdi> <code>${admins.admin.id}</code></dd>`,
            `<code>${at(day).toISOString()}</code></dd>`,
            "<dt>Before</dt><dd>admin</dd>"
          ]
        ) expect(text).toContain(part)
        const page = yield* Pages.visit("GET", `/console/accounts/${account}`, {
          cookie: yield* Pages.signIn(id, admins.owner.id)
        })
        expect(page.text).toContain("Department: <bdi dir=\"auto\">Sales &lt;b&gt;</bdi>")
      }))

    it.effect("an event from outside is worded by what it is: the messenger is blamed for nothing that happened at the console", () =>
      Effect.gen(function*() {
        const { account, admins, id, visit } = yield* stage()
        const { owner } = admins
        const append = (
          action: ActionName,
          target: string,
          via: "background" | "console" | "rest",
          accountId = null as string | null
        ) =>
          Fixtures.within(
            id,
            Effect.flatMap(Journal, (journal) =>
              journal.append(
                OrganizationId.make(id),
                journalEntry(Actor.external, { via, ip: null, requestId: null }, journalAction(action), {
                  targetId: target,
                  details: {},
                  ...(accountId === null ? {} : { accountId })
                })
              ))
          )
        yield* append("console_password.failed", owner.id, "rest")
        yield* append("second_factor.failed", owner.id, "console")
        yield* append("password_reset.requested", owner.id, "console")
        yield* append("takeover.detected", account, "background", account)
        const { text } = yield* visit()
        const said = [
          ...text.matchAll(/<p class="hint"><a [^>]*><time [^>]*>just now<\/time><\/a> (from[^<]*|by a [^<]*)<\/p>/g)
        ]
        expect(said.map(([, words]) => words)).toEqual([
          "from outside, on the messenger",
          "by a person on the sign-in page at the console",
          "by a person with a wrong second factor at the console",
          "by a person with a wrong password over the API"
        ])
      }))

    it.effect("what was begun and what came of it are one entry, with the details of both, also across pages", () =>
      Effect.gen(function*() {
        const { account, admins, id, shown, visit } = yield* stage()
        const entry = (outcome: "pending" | "failed", closes?: number) =>
          journalEntry(
            Actor.caller({
              adminId: admins.owner.id,
              adminName: null,
              credential: { kind: "api_key", id: admins.owner.id, label: "Key" }
            }),
            { via: "rest", ip: null, requestId: null },
            journalAction("two_fa.set"),
            { targetId: account, accountId: account, outcome, details: {}, ...(closes === undefined ? {} : { closes }) }
          )
        const begun = yield* Fixtures.within(
          id,
          Effect.flatMap(Journal, (journal) => journal.begin(OrganizationId.make(id), entry("pending")))
        )
        expect((yield* visit()).text).toContain(">Pending</span>")
        yield* Fixtures.within(
          id,
          Effect.flatMap(
            Journal,
            (journal) => journal.close(OrganizationId.make(id), begun.sequence, entry("failed", begun.sequence))
          )
        )
        expect((yield* shown()).slice(0, 2)).toEqual(["Two-factor authentication set", all[0]])
        const { text } = yield* visit()
        expect([text.includes(">Failed</span>"), text.includes(">Pending</span>")]).toEqual([true, false])
        for (const sequence of [begun.sequence, begun.sequence + 1]) {
          expect(text).toContain(`<details id="e${sequence}"><summary>Details of event ${sequence}</summary>`)
        }
        const own = yield* Pages.visit("GET", `/console/accounts/${account}`, {
          cookie: yield* Pages.signIn(id, admins.owner.id)
        })
        expect(own.text.match(/<h3>Two-factor authentication set/g)?.length).toBe(1)
        // Alone on its page, it does not pass for something that is still under way.
        const alone = (yield* visit("?outcome=pending")).text
        expect(alone).toContain(`Completed by event ${begun.sequence + 1}`)
        expect(alone).not.toContain(">Pending</span>")
      }))

    it.effect("an event has a page with all its details, for the admins who see it", () =>
      Effect.gen(function*() {
        const { admins, id, visit } = yield* stage()
        const [, , event] = (yield* World.get("/v1/journal", admins.owner.key)).body.data
        expect((yield* visit()).text).toContain(`href="${path}/${event.id}"`)
        const { status, text } = yield* visit(`/${event.id}`)
        expect(status).toBe(200)
        for (
          const part of [`Event ${event.sequence}</h1>`, `<details id="e${event.sequence}" open>`, event.hash, ">Ada<"]
        ) {
          expect(text).toContain(part)
        }
        const archive = yield* Pages.signIn(id, admins.archive.id)
        expect((yield* Pages.visit("GET", `${path}/${event.id}`, { cookie: archive })).status).toBe(404)
        expect((yield* visit("/nothing")).status).toBe(404)
      }))

    it.effect("a role that sees a part of it reads that part, and no head", () =>
      Effect.gen(function*() {
        const { account, admins, id, shown, visit } = yield* stage("admin")
        expect(yield* shown()).toEqual(["Signed in to the console"])
        expect((yield* visit()).text).not.toContain("<dt>Head</dt>")
        yield* World.grant(id, admins.admin.id, { accounts: [account] })
        expect(yield* shown()).toEqual(["Signed in to the console", ...all.slice(2)])
        const page = yield* Pages.visit("GET", `${path}?account=${account}`)
        expect(page.location).toBe(`/console/sign-in?return_to=${encodeURIComponent(`${path}?account=${account}`)}`)
      }))

    it.effect("a long journal has pages that follow each other without a gap", () =>
      Effect.gen(function*() {
        const { admins, account, visit } = yield* stage()
        for (let n = 0; n < 55; n++) {
          yield* World.put(`/v1/accounts/${account}/role-label`, admins.owner.key, { role_label: `Label ${n}` })
        }
        const sequences = (page: Pages.Page) =>
          [...page.text.matchAll(/<details id="e([0-9]+)"/g)].map(([, n]) => Number(n))
        const first = yield* visit()
        const next = /<a class="button" href="[^"?]*(\?[^"]*)">Next page/.exec(first.text)?.[1]
        const second = yield* visit(next)
        const found = [...sequences(first), ...sequences(second)]
        expect(found).toEqual(Array.from(found, (_, n) => found.length - n))
        expect(found.length).toBe(59)
      }))
  })
})
