import { describe, expect, layer } from "@effect/vitest"
import { Effect, Redacted } from "effect"
import { TestClock } from "effect/testing"
import { forgetSecrets } from "../../../../src/jobs/security/forget_secrets.ts"
import { Peppers } from "../../../../src/layers/crypto/Peppers.ts"
import * as Secrets from "../../../../src/operator/security/Secrets.ts"
import type { Db } from "../../../../src/ports/Db.ts"
import { Secrets as SecretsPort } from "../../../../src/ports/security/Secrets.ts"
import * as Pages from "../../../support/http/pages.ts"
import { postgres } from "../../../support/postgres/database.ts"
import * as HeldSecrets from "../../../support/security/heldSecrets.ts"
import * as World from "../../../support/world.ts"

const secret = "kVb7 the account's password"

const staged = Effect.gen(function*() {
  const { admins, id } = yield* World.makeOrganization()
  const account = yield* World.makeAccount(id, { first_name: "Ada", last_name: "Lovelace" })
  const gone = yield* World.makeAccount(id, { first_name: "Zoe", facts: { offboarded_at: new Date(0) } })
  yield* HeldSecrets.hold(id, account, { password: secret })
  yield* HeldSecrets.hold(id, gone, { password: "another" })
  const cookie = (role: "owner" | "superadmin" | "admin") =>
    Effect.map(Pages.signIn(id, admins[role].id), (signed) => signed)
  const path = `/console/accounts/${account}/secrets`
  return {
    account,
    admins,
    gone,
    id,
    path,
    cookie,
    reveal: Effect.fnUntraced(function*(signed: string, password: string) {
      const form = Pages.formOf(yield* Pages.visit("GET", path, { cookie: signed }), path)
      return yield* Pages.visit("POST", path, { cookie: signed, form: { ...form.hidden, password } })
    }),
    events: Effect.map(World.journal(id), (all) => all.filter(({ action }) => action === "two_fa.revealed"))
  }
})

describe("3.9 secrets at the console", () => {
  layer(World.world(postgres))((it) => {
    it.effect("owner and superadmin read a password with their own once more; each reading is journaled before", () =>
      Effect.gen(function*() {
        const { account, cookie, events, gone, id, reveal } = yield* staged
        const signed = yield* cookie("superadmin")
        const list = yield* Pages.visit("GET", "/console/secrets", { cookie: signed })
        expect(list.text.indexOf(gone)).toBeGreaterThan(0)
        expect(list.text.indexOf(gone)).toBeLessThan(list.text.indexOf(account))
        expect(list.text).not.toContain(secret)
        const asked = yield* Pages.visit("GET", `/console/accounts/${account}/secrets`, { cookie: signed })
        expect(asked.text.match(/<a [^>]*aria-current[^>]*>[^<]*/g)).toEqual([
          "<a href=\"/console/secrets\" aria-current=\"true\">Secrets"
        ])
        const wrong = yield* reveal(signed, "not the password")
        expect([wrong.status, wrong.text.includes("kVb7"), yield* events]).toEqual([403, false, []])
        const shown = yield* reveal(signed, Pages.password)
        expect([shown.status, shown.headers.get("cache-control")]).toEqual([200, expect.stringContaining("no-store")])
        expect(shown.text).toContain("kVb7")
        expect((yield* events).map(({ account_id, via }) => [account_id, via])).toEqual([[account, "console"]])
        expect((yield* Pages.visit("GET", "/console/secrets", { cookie: signed })).text).toContain("first shown")
        // While the account is protected the password stays its, however long ago it was shown.
        yield* TestClock.adjust("8 days")
        yield* forgetSecrets.run
        expect(yield* HeldSecrets.slots(id, account)).toEqual(["two_fa held"])
      }))

    it.effect("one that is replaced while it is read is not shown, and the new one counts as shown to nobody", () =>
      Effect.gen(function*() {
        const { account, cookie, events, id, reveal } = yield* staged
        const signed = yield* cookie("owner")
        const secrets = yield* SecretsPort
        const around = yield* Effect.context<Db | SecretsPort>()
        const replacing = SecretsPort.of({
          ...secrets,
          candidates: (of) =>
            Effect.tap(
              secrets.candidates(of),
              () => Effect.provideContext(HeldSecrets.hold(id, account, { password: "newer" }), around)
            )
        })
        const replaced = reveal(signed, Pages.password).pipe(Effect.provideService(SecretsPort, replacing))
        const none = yield* replaced
        expect([none.status, none.text.includes("<h1>Secrets</h1>"), yield* events]).toEqual([404, true, []])
        const printed = Secrets.revealTwoFa.run({ organization: id, account_id: account })
        expect((yield* Effect.flip(Effect.provideService(printed, SecretsPort, replacing))).message)
          .toContain("holds no 2FA password")
        expect(yield* events).toEqual([])
        const list = yield* Pages.visit("GET", "/console/secrets", { cookie: signed })
        expect(list.text).not.toContain("first shown")
        expect((yield* reveal(signed, Pages.password)).text).toContain("newer")
      }))

    it.effect("an admin is refused, a takeover lock is shown, and what is no account of the organization is none", () =>
      Effect.gen(function*() {
        const { account, cookie, events, id, path } = yield* staged
        const admin = yield* cookie("admin")
        for (const where of ["/console/secrets", path]) {
          const refused = yield* Pages.visit("GET", where, { cookie: admin })
          expect([refused.status, refused.text.includes("Ada")]).toEqual([403, false])
        }
        const owner = yield* cookie("owner")
        expect((yield* Pages.visit("GET", path, { cookie: owner })).text).not.toContain("Release the lock first")
        yield* World.set(id, "account", account, { locked_at: new Date(0), lock_reason: "two_fa" })
        expect((yield* Pages.visit("GET", path, { cookie: owner })).text).toContain("Release the lock first")
        const other = yield* staged
        for (const where of [other.path, "/console/accounts/nobody/secrets"]) {
          expect((yield* Pages.visit("GET", where, { cookie: owner })).status).toBe(404)
        }
        expect((yield* Pages.visit("POST", path, { cookie: owner, form: { password: Pages.password } })).status).toBe(
          403
        )
        expect(yield* events).toEqual([])
      }))

    it.effect("the operator prints one, journaled, and seals keys anew that an old pepper had sealed", () =>
      Effect.gen(function*() {
        const { account, events, gone, id } = yield* staged
        const { password } = yield* Secrets.revealTwoFa.run({ organization: id, account_id: account })
        expect(Redacted.value(password)).toBe(secret)
        expect((yield* events).map(({ via }) => via)).toEqual(["cli"])
        expect((yield* Effect.flip(Secrets.revealTwoFa.run({ organization: id, account_id: id }))).message).toContain(
          "holds no 2FA password"
        )
        const none = { accounts: 0, sessions: 0, authenticator_apps: 0, identity_providers: 0, archive_keys: 0 }
        expect(yield* Secrets.rewrapSecrets.run({})).toEqual({ ...none, skipped: none, damaged: none })
        expect([gone, yield* Peppers]).toBeDefined()
      }))
  })
})
