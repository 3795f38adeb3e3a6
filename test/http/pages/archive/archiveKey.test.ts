import { describe, expect, layer } from "@effect/vitest"
import { Effect, Redacted, Result } from "effect"
import { unwrapSeed } from "../../../../src/archive/KeyWraps.ts"
import { OrganizationId } from "../../../../src/domain/people/Access.ts"
import { ArchiveKeys } from "../../../../src/ports/archive/ArchiveKeys.ts"
import { Db } from "../../../../src/ports/Db.ts"
import { setArchiveKey } from "../../../support/archive/archiveKeys.ts"
import * as Pages from "../../../support/http/pages.ts"
import { postgres } from "../../../support/postgres/database.ts"
import * as World from "../../../support/world.ts"

const path = "/console/archive-key"
const first = "harbour lantern archive"
const second = "meadow copper violin"

const codeIn = (page: Pages.Page): string => /<code class="secret" id="secret"[^>]*>([^<]*)</.exec(page.text)?.[1] ?? ""

/** True if the secret opens the organization's key as it is kept now. */
const opens = Effect.fnUntraced(function*(organization: string, kind: "password" | "recovery", secret: string) {
  const id = OrganizationId.make(organization)
  const keys = yield* ArchiveKeys
  const db = yield* Db
  const key = yield* db.read(id, keys.current(id))
  if (key === null) return false
  const wrap = yield* db.read(id, keys.wrap(key, kind))
  const result = yield* Effect.result(unwrapSeed({ ...key, kind }, wrap!, Redacted.make(secret)))
  return Result.isSuccess(result)
})

const staged = Effect.gen(function*() {
  const { admins, id } = yield* World.makeOrganization({ archive_key_set: false })
  const owner = yield* Pages.signIn(id, admins.owner.id)
  const send = Effect.fnUntraced(
    function*(way: string, values: Readonly<Record<string, string>>, cookie: string = owner) {
      const at = `${path}/${way}`
      const form = Pages.formOf(yield* Pages.visit("GET", at, { cookie }), at)
      const filled = { password: Pages.password, ...values }
      return yield* Pages.visit("POST", at, { cookie, form: { ...form.hidden, ...filled } })
    }
  )
  return {
    admins,
    id,
    owner,
    send,
    entries: Effect.map(
      World.journal(id),
      (all) => all.filter(({ action }) => action.startsWith("archive_")).map(({ action, details }) => [action, details])
    ),
    keySet: Effect.map(
      World.query<{ archive_key_set: boolean }>(
        id,
        (sql) => sql`select archive_key_set from organization where id = ${id}`
      ),
      ([row]) => row?.archive_key_set
    )
  }
})

describe("3.9 the archive password at the console", () => {
  layer(World.world(postgres))((it) => {
    it.effect("the owner sets it once, and is shown the recovery code on that page alone", () =>
      Effect.gen(function*() {
        const { entries, id, keySet, owner, send } = yield* staged
        expect((yield* Pages.visit("GET", path, { cookie: owner })).text).toContain("Not set")
        const done = yield* send("set", { new: first, repeated: first })
        const code = codeIn(done)
        expect([done.status, done.headers.get("cache-control")]).toEqual([200, expect.stringContaining("no-store")])
        expect(code).toMatch(/^(?:[0-9A-Z]{4}-){12}[0-9A-Z]{4}$/)
        expect([yield* opens(id, "password", first), yield* opens(id, "recovery", code), yield* keySet])
          .toEqual([true, true, true])
        expect(yield* entries).toEqual([["archive_key.set", { way: "new_key", replaced: false, made: "service" }]])
        const shown = yield* Pages.visit("GET", path, { cookie: owner })
        expect([shown.text.includes(code), shown.text.includes("Password set")]).toEqual([false, true])
        expect((yield* Pages.visit("GET", `${path}/set`, { cookie: owner })).location).toBe(path)
        const kept = JSON.stringify([yield* World.snapshot(id), yield* World.journal(id)])
        for (const secret of [first, code]) expect(kept).not.toContain(secret)
      }))

    it.effect("the owner changes it by the one before, which opens nothing any more, nor does its recovery code", () =>
      Effect.gen(function*() {
        const { entries, id, send } = yield* staged
        const before = codeIn(yield* send("set", { new: first, repeated: first }))
        const wrong = yield* send("change", { secret: "another", new: second, repeated: second })
        expect([wrong.status, wrong.text.includes("not the archive password"), codeIn(wrong)]).toEqual([403, true, ""])
        const done = yield* send("change", { secret: first, new: second, repeated: second })
        const code = codeIn(done)
        expect(done.status).toBe(200)
        expect([yield* opens(id, "password", second), yield* opens(id, "recovery", code)]).toEqual([true, true])
        expect([yield* opens(id, "password", first), yield* opens(id, "recovery", before)]).toEqual([false, false])
        expect((yield* entries).slice(1)).toEqual([
          ["archive_password.failed", {}],
          ["archive_key.set", { way: "archive_password", made: "service" }]
        ])
      }))

    it.effect("the owner who has forgotten it sets another by the recovery code, however that is typed", () =>
      Effect.gen(function*() {
        const { entries, id, send } = yield* staged
        const code = codeIn(yield* send("set", { new: first, repeated: first }))
        const typed = code.toLowerCase().replaceAll("-", " ")
        expect((yield* send("recover", { secret: typed.slice(1), new: second, repeated: second })).status).toBe(403)
        const done = yield* send("recover", { secret: typed, new: second, repeated: second })
        expect([done.status, yield* opens(id, "password", second)]).toEqual([200, true])
        expect((yield* entries).at(-1)).toEqual(["archive_key.set", { way: "recovery_code", made: "service" }])
      }))

    it.effect("the owner who has lost both makes another key, after saying that the archive is given up", () =>
      Effect.gen(function*() {
        const { entries, id, send } = yield* staged
        const code = codeIn(yield* send("set", { new: first, repeated: first }))
        expect((yield* send("replace", { new: second, repeated: second })).status).toBe(400)
        expect((yield* send("replace", { new: second, repeated: second, lost: "yes" })).status).toBe(200)
        expect([yield* opens(id, "password", second), yield* opens(id, "recovery", code)]).toEqual([true, false])
        expect((yield* entries).at(-1)).toEqual(["archive_key.set", {
          way: "new_key",
          replaced: true,
          made: "service"
        }])
        const keys = yield* World.query<{ lost: boolean }>(
          id,
          (sql) => sql`select lost_at is not null as lost from archive_key where organization_id = ${id} order by lost`
        )
        expect(keys).toEqual([{ lost: false }, { lost: true }])
      }))

    it.effect("a password that is short, known or typed differently twice is refused at its field", () =>
      Effect.gen(function*() {
        const { entries, send } = yield* staged
        for (
          const [next, repeated, text] of [
            ["short", "short", "12 to 1024 characters"],
            ["aaaaaaaaaaaaaa", "aaaaaaaaaaaaaa", "too easy to guess"],
            [first, second, "not the same"]
          ] as const
        ) {
          const refused = yield* send("set", { new: next, repeated })
          expect([refused.status, refused.text.includes(text)]).toEqual([400, true])
        }
        expect((yield* send("set", { password: "another", new: first, repeated: first })).status).toBe(403)
        expect(yield* entries).toEqual([])
      }))

    it.effect("any other admin sees that it is set, and gets no form", () =>
      Effect.gen(function*() {
        const { admins, id, owner } = yield* staged
        const form = Pages.formOf(yield* Pages.visit("GET", `${path}/set`, { cookie: owner }), `${path}/set`)
        yield* setArchiveKey(id)
        for (const role of ["superadmin", "admin", "billing", "archive"] as const) {
          const cookie = yield* Pages.signIn(id, admins[role].id)
          const page = yield* Pages.visit("GET", path, { cookie })
          expect([page.status, page.text.includes(`${path}/`), page.text.includes("The owner sets")])
            .toEqual([200, false, true])
          expect((yield* Pages.visit("GET", `${path}/change`, { cookie })).status).toBe(403)
          const sent = yield* Pages.visit("POST", `${path}/set`, { cookie, form: form.hidden })
          expect(sent.status).toBe(403)
        }
      }))

    it.effect("ten wrong passwords in an hour make the owner wait, here as where the archive is read", () =>
      Effect.gen(function*() {
        const { id, send } = yield* staged
        yield* setArchiveKey(id)
        for (let tries = 0; tries < 10; tries++) {
          expect((yield* send("change", { secret: `wrong ${tries}`, new: second, repeated: second })).status).toBe(403)
        }
        const waits = yield* send("change", { secret: first, new: second, repeated: second })
        expect([waits.status, waits.headers.get("retry-after")]).toEqual([429, "3600"])
      }))
  })
})
