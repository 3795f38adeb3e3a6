import { describe, expect, layer } from "@effect/vitest"
import { Effect, Redacted, Result, Schema } from "effect"
import { TestClock } from "effect/testing"
import { unwrapSeed } from "../../../../src/archive/KeyWraps.ts"
import { OwnKey } from "../../../../src/domain/archive/OwnKey.ts"
import { OrganizationId } from "../../../../src/domain/people/Access.ts"
import { ArchiveKeys } from "../../../../src/ports/archive/ArchiveKeys.ts"
import { Db } from "../../../../src/ports/Db.ts"
import { setArchiveKey } from "../../../support/archive/archiveKeys.ts"
import { archivePassword } from "../../../support/archive/archivePassword.ts"
import { prepare, send } from "../../../support/archive/browserKeys.ts"
import * as Pages from "../../../support/http/pages.ts"
import { act as operate } from "../../../support/operator/operator.ts"
import { pglite } from "../../../support/postgres/database.ts"
import * as Authenticator from "../../../support/signin/authenticator.ts"
import * as Factors from "../../../support/signin/factors.ts"
import * as World from "../../../support/world.ts"

const first = "harbour lantern archive"
const second = "meadow copper violin"
const stored = [200, { stored: true }]

/** The secrets that open the organization's key as the service keeps it, by the service's own cryptography. */
const opening = Effect.fnUntraced(function*(organization: string, secrets: Readonly<Record<string, string>>) {
  const id = OrganizationId.make(organization)
  const keys = yield* ArchiveKeys
  const db = yield* Db
  const key = yield* db.read(id, keys.current(id))
  const opened: Array<string> = []
  for (const [name, secret] of Object.entries(secrets)) {
    for (const kind of ["password", "recovery"] as const) {
      const wrap = key === null ? null : yield* db.read(id, keys.wrap(key, kind))
      if (key === null || wrap === null) continue
      const result = yield* Effect.result(unwrapSeed({ ...key, kind }, wrap, Redacted.make(secret)))
      if (Result.isSuccess(result)) opened.push(`${name} as ${kind}`)
    }
  }
  return opened
})

const stage = Effect.gen(function*() {
  const { admins, id } = yield* World.makeOrganization({ archive_key_set: false })
  const owner = yield* Pages.signIn(id, admins.owner.id)
  const entries = Effect.map(
    World.journal(id),
    (all) => all.filter(({ action }) => action.startsWith("archive_")).map(({ action, details }) => [action, details])
  )
  return { admins, entries, id, owner }
})

/** The key of a form with another value at a path. */
const changed = (form: { readonly key: string }, path: ReadonlyArray<string>, value: unknown): string => {
  const key: unknown = JSON.parse(form.key)
  const parent = path.slice(0, -1).reduce((at, name) => (at as Record<string, unknown>)[name], key)
  Object.assign(parent as object, { [path.at(-1)!]: value })
  return JSON.stringify(key)
}

const zeros = (size: number): string => Buffer.alloc(size).toString("base64")

describe("9 an archive key that is made in the owner's browser", () => {
  layer(World.world(pglite))((it) => {
    it.effect("opens by the password and the code, of which the service is sent nothing, and is stored once", () =>
      Effect.gen(function*() {
        const { entries, id, owner } = yield* stage
        const { form, recoveryCode } = yield* prepare("set", owner, { password: first })
        expect(yield* send("set", owner, form)).toEqual(stored)
        expect(yield* opening(id, { first, recoveryCode })).toEqual(["first as password", "recoveryCode as recovery"])
        expect(yield* send("set", owner, form)).toEqual(stored)
        expect(yield* entries).toEqual([["archive_key.set", { way: "new_key", replaced: false, made: "browser" }]])
        const other = yield* prepare("replace", owner, { password: second })
        expect(yield* send("replace", owner, other.form)).toEqual([400, {
          field: "lost",
          message: "Tick this, or leave the key as it is."
        }])
        expect(yield* send("replace", owner, { ...other.form, lost: "yes" })).toEqual(stored)
        expect(yield* opening(id, { first, recoveryCode, second })).toEqual(["second as password"])
        expect((yield* entries).at(-1)?.[1]).toEqual({ way: "new_key", replaced: true, made: "browser" })
        // The id of a key that was given up is not used again, nor that of the one in use.
        const again = yield* prepare("replace", owner, { password: first })
        for (const { key: used } of [form, other.form]) {
          const key = changed(again.form, ["key_id"], JSON.parse(used).key_id)
          expect(yield* send("replace", owner, { ...again.form, key, lost: "yes" })).toEqual([400, {
            field: "",
            message: "key_id: is the id of another key of the organization, or was."
          }])
        }
      }))

    it.effect("gets another password there, by the one before or by the code, also where the service made it", () =>
      Effect.gen(function*() {
        const { entries, id, owner } = yield* stage
        yield* setArchiveKey(id)
        const wrong = yield* Effect.flip(prepare("change", owner, { password: first, secret: second }))
        expect(wrong).toEqual({ field: "secret", message: "This is not the archive password." })
        const weak = yield* Effect.flip(
          prepare("change", owner, { password: `owner of ${id}`, secret: archivePassword })
        )
        expect(weak).toEqual({ field: "new", message: "A password does not contain the organization's id." })
        const change = yield* prepare("change", owner, { password: first, secret: archivePassword })
        expect(yield* send("change", owner, change.form)).toEqual(stored)
        // The browser got no answer, and sends it again.
        expect(yield* send("change", owner, change.form)).toEqual(stored)
        const code = change.recoveryCode.toLowerCase().replaceAll("-", " ")
        const recover = yield* prepare("recover", owner, { password: second, secret: code })
        expect(yield* send("recover", owner, recover.form)).toEqual(stored)
        const secrets = { archivePassword, first, second, before: change.recoveryCode, code: recover.recoveryCode }
        expect(yield* opening(id, secrets)).toEqual(["second as password", "code as recovery"])
        expect((yield* entries).slice(1)).toEqual([
          ["archive_key.set", { way: "archive_password", made: "browser" }],
          ["archive_key.set", { way: "recovery_code", made: "browser" }]
        ])
        // What was prepared before the last change is refused, whichever form it is of.
        expect(yield* send("change", owner, change.form)).toEqual([409, {
          field: "",
          message: "The archive's key was changed meanwhile: look again, then repeat it."
        }])
      }))

    it.effect("keeps its wraps where a request comes from where it was not opened, and such requests are counted", () =>
      Effect.gen(function*() {
        const { entries, id, owner } = yield* stage
        yield* setArchiveKey(id)
        const { form } = yield* prepare("change", owner, { password: first, secret: archivePassword })
        const forged = [
          { ...form, opened: "" },
          { ...form, opened: form.csrf ?? "" },
          { ...form, seen: "00".repeat(12) }
        ]
        for (const each of forged) {
          expect(yield* send("change", owner, each)).toEqual([403, {
            field: "secret",
            message: "The archive's key was not opened. Load the page again."
          }])
        }
        expect((yield* entries).slice(1)).toEqual(forged.map(() => ["archive_password.failed", {}]))
        for (let more = forged.length; more < 10; more++) yield* send("change", owner, forged[0]!)
        expect((yield* send("change", owner, forged[0]!))[0]).toBe(429)
        expect(yield* opening(id, { archivePassword })).toEqual(["archivePassword as password"])
        expect(yield* send("change", owner, form)).toEqual(stored)
      }))

    it.effect("is stored for its own organization and at the service's own cost alone, and every refusal names the member", () =>
      Effect.gen(function*() {
        const { entries, owner } = yield* stage
        const { form } = yield* prepare("set", owner, { password: first })
        const key = JSON.parse(form.key)
        const wrongs: ReadonlyArray<readonly [path: ReadonlyArray<string>, value: unknown, message: string]> = [
          [["organization_id"], "another", "is not this organization"],
          [["key_id"], String(key.key_id).toUpperCase(), "a UUID in lower case"],
          [["suite"], 2, "expected 1"],
          [["public_key"], zeros(1215), "1216 bytes"],
          [["public_key"], zeros(1216), "not a key of X-Wing"],
          [["public_key"], `${zeros(1216)} `, "1216 bytes"],
          [["password", "nonce"], zeros(13), "12 bytes"],
          [["password", "sealed"], zeros(32), "48 bytes"],
          [["password", "proof"], "", "32 bytes"],
          [["password", "kdf"], { name: "hkdf-sha256" }, "argon2id"],
          [["password", "kdf", "memory_kib"], 1_048_576, "expected 1024"],
          [["password", "kdf", "passes"], 16, "expected 1"],
          [["password", "kdf", "lanes"], 16, "expected 1"],
          [["password", "kdf", "salt"], "00", "expected"],
          [["recovery", "kdf"], key.password.kdf, "is not known here"],
          [["recovery", "proof"], zeros(31), "32 bytes"],
          [["seed"], zeros(32), "is not known here"]
        ]
        for (const [path, value, message] of wrongs) {
          const [status, answer] = yield* send("set", owner, { ...form, key: changed(form, path, value) })
          const named = path.join("\\.")
          expect([path, status, answer]).toEqual([path, 400, {
            field: "",
            message: expect.stringMatching(new RegExp(`^${named}[^]*${message}`))
          }])
        }
        for (const text of ["{", "null", form.key.replace("{", "{\"suite\":1,")]) {
          expect((yield* send("set", owner, { ...form, key: text }))[0]).toBe(400)
        }
        expect(yield* entries).toEqual([])
      }))

    it.effect("is taken from the owner alone, after the console password, in the session that the form was made for", () =>
      Effect.gen(function*() {
        const { admins, entries, id, owner } = yield* stage
        const { form } = yield* prepare("set", owner, { password: first })
        const [status, answer] = yield* send("set", owner, { ...form, password: "another", key: "{" })
        expect([status, answer]).toEqual([403, { field: "password", message: expect.any(String) }])
        const again = yield* Pages.signIn(id, admins.owner.id)
        expect(yield* send("set", again, form)).toEqual([403, null])
        const superadmin = yield* Pages.signIn(id, admins.superadmin.id)
        expect(yield* send("set", superadmin, form)).toEqual([403, null])
        expect((yield* entries).map(([action]) => action)).toEqual([])
        const plain = yield* Pages.visit("GET", "/console/archive-key/set?by=service", { cookie: owner })
        expect([plain.text.includes("data-key"), plain.text.includes("passes through the service once")])
          .toEqual([false, true])
        const policy = (yield* Pages.visit("GET", "/console/archive-key/set", { cookie: owner })).headers
        expect(policy.get("content-security-policy")).toContain("/console/archive-key/worker.js")
      }))

    it.effect("is taken with the second factor where the owner has one", () =>
      Effect.gen(function*() {
        const { admins, id } = yield* World.makeOrganization({ archive_key_set: false })
        yield* Pages.givePassword(id, admins.owner.id)
        yield* Factors.giveTotp(id, admins.owner.id)
        yield* TestClock.adjust("30 seconds")
        const begun = yield* Factors.begin(id, yield* Pages.emailOf(id, admins.owner.id))
        const cookie = Pages.cookiesOf(yield* Factors.answer(begun, yield* Factors.code()))
        yield* TestClock.adjust("5 minutes")
        const { form } = yield* prepare("set", cookie, { password: first })
        expect(yield* send("set", cookie, form)).toEqual([403, { field: "code", message: "Give your second factor." }])
        expect((yield* send("set", cookie, { ...form, code: "000000" }))[0]).toBe(403)
        expect(yield* send("set", cookie, { ...form, code: yield* Factors.code() })).toEqual(stored)
      }))

    it.effect("of an operator's file is stored too, once, and in the place of another only where that is said", () =>
      Effect.gen(function*() {
        const { entries, id, owner } = yield* stage
        const { form, recoveryCode } = yield* prepare("set", owner, { password: first })
        const key = yield* Schema.decodeEffect(Schema.fromJsonString(OwnKey))(form.key)
        const set = (own: OwnKey, replace = false) =>
          operate((requests) => requests.archive_key_set({ organization: id, password: null, key: own, replace }))
        expect(yield* set({ ...key, organization_id: OrganizationId.make("other") }))
          .toMatch(/^organization_id: is not this organization/)
        expect(yield* set(key)).toEqual({ organization: id, recovery_code: null })
        expect(yield* opening(id, { first, recoveryCode })).toEqual(["first as password", "recoveryCode as recovery"])
        expect(yield* set(key)).toContain("--replace makes a new key")
        expect(yield* set(key, true)).toEqual({ organization: id, recovery_code: null })
        expect(yield* entries).toEqual([["archive_key.set", { way: "new_key", replaced: false, made: "key_file" }]])
      }))

    it.effect("is asked for by a page that runs its own script and that of passkeys, and no other", () =>
      Effect.gen(function*() {
        const { admins, id, owner } = yield* stage
        yield* Authenticator.givePasskey(id, admins.owner.id)
        const { headers, text } = yield* Pages.visit("GET", "/console/archive-key/set", { cookie: owner })
        const scripts = [...text.matchAll(/<script src="([^"?]*)\?v=[0-9a-f]{12}" defer(?: integrity="([^"]*)")?/g)]
        const policy = headers.get("content-security-policy") ?? ""
        expect(scripts.map(([, address = ""]) => new URL(address).pathname))
          .toEqual(["/console/archive-key/page.js", "/console/passkeys.js"])
        const [[, , integrity] = [], [, passkeys] = []] = scripts
        expect(integrity).toMatch(/^sha256-/)
        // The script of the page is allowed by its text alone.
        expect(policy).toContain(`script-src '${integrity}' ${passkeys};`)
        expect(policy).toContain("connect-src 'self'; trusted-types viewer")
      }))
  })
})
