import { describe, expect, it, layer } from "@effect/vitest"
import { Effect, Redacted } from "effect"
import { dataDirectory } from "../support/cli/commandLine.ts"
import { createAcme, doneInProcess, runInProcess } from "../support/cli/inProcess.ts"
import * as Pages from "../support/http/pages.ts"
import * as Outbox from "../support/mail/outbox.ts"
import { act } from "../support/operator/operator.ts"
import { postgres } from "../support/postgres/database.ts"
import * as World from "../support/world.ts"

const unchanged = {
  issuer: null,
  client_id: null,
  client_secret: null,
  required: null,
  second_factor: null,
  private_network: null,
  max_age: null
}
const issuer = "https://login.acme.example"
const secret = Redacted.make("a secret of the console")

describe("the commands about identity providers", () => {
  layer(World.world(postgres))((it) => {
    const set = (organization: string, changes: object) =>
      act((requests) => requests.identity_provider_set({ organization, ...unchanged, ...changes }))

    it.effect("set, show and remove a provider, whose secret is sealed and shown nowhere", () =>
      Effect.gen(function*() {
        const { id } = yield* World.makeOrganization()
        const show = act((requests) => requests.identity_provider_show({ organization: id }))
        expect(yield* show).toBe(`${id} has no identity provider.`)
        expect(yield* set(id, { required: true })).toMatch(/--issuer and --client-id/)
        expect(yield* set(id, { issuer, client_id: "console" })).toMatch(/--client-secret-file/)
        const wrong = [
          "http://login.acme.example",
          "https://login.acme.example?tenant=1",
          "https://login.acme.example/#",
          "https://name@login.acme.example",
          "https://127.0.0.1",
          "https://[::1]/",
          "https://2130706433",
          `https://${"a".repeat(500)}.example`
        ]
        for (const each of wrong) {
          expect(yield* set(id, { issuer: each, client_id: "console", client_secret: secret })).toMatch(/^issuer: /)
        }
        expect(yield* set(id, { issuer, client_id: "console", client_secret: secret })).toMatchObject({
          issuer,
          required: false,
          second_factor: "console",
          private_network: false,
          unlinked: 4
        })
        expect(yield* set(id, { second_factor: "claim" })).toMatchObject({ issuer, second_factor: "claim" })
        expect(yield* show).toMatchObject({
          client_id: "console",
          second_factor: "claim",
          links: [],
          max_age_minutes: null
        })
        const [row] = yield* World.query<{ client_secret_sealed: string; version: string }>(
          id,
          (sql) => sql`select * from identity_provider where organization_id = ${id}`
        )
        expect(row?.client_secret_sealed).toMatch(/^[0-9a-f]{8}\./)
        const seen = JSON.stringify([row, yield* show, yield* World.journal(id)])
        expect(seen).not.toContain(Redacted.value(secret))
        expect(yield* act((requests) => requests.identity_provider_remove({ organization: id }))).toEqual({
          organization: id,
          links: 0,
          sessions: 0
        })
        expect(yield* show).toBe(`${id} has no identity provider.`)
        expect((yield* World.journal(id)).map(({ action, actor_type }) => [action, actor_type])).toEqual([
          ["identity_provider.set", "operator"],
          ["identity_provider.set", "operator"],
          ["identity_provider.removed", "operator"]
        ])
      }))

    it.effect("say how long ago somebody may have signed in there, anew each time or as the provider likes", () =>
      Effect.gen(function*() {
        const { id } = yield* World.makeOrganization()
        const shown = act((requests) => requests.identity_provider_show({ organization: id }))
        yield* set(id, { issuer, client_id: "console", client_secret: secret })
        for (const max_age of [-1, 1.5, 10_081, Number.NaN]) {
          expect(yield* set(id, { max_age })).toMatch(/^max_age: .*from 0 to 10080, or any/)
        }
        for (const [max_age, max_age_minutes] of [[0, 0], [null, 0], [10_080, 10_080], ["any", null]] as const) {
          expect(yield* set(id, { max_age })).toMatchObject({ max_age_minutes })
          expect(yield* shown).toMatchObject({ max_age_minutes })
          expect((yield* World.journal(id)).at(-1)).toMatchObject({
            action: "identity_provider.set",
            details: { max_age_minutes: max_age_minutes ?? "any" }
          })
        }
      }))

    it.effect("link each admin to one person and each person to one admin, and mail who is linked", () =>
      Effect.gen(function*() {
        const { admins, id } = yield* World.makeOrganization()
        const other = yield* World.makeOrganization()
        for (const each of [id, other.id]) yield* set(each, { issuer, client_id: "console", client_secret: secret })
        const email = yield* Pages.emailOf(id, admins.admin.id)
        const owner = yield* Pages.emailOf(id, admins.owner.id)
        const link = (who: string, subject: string, organization: string = id) =>
          act((requests) => requests.admins_link_identity({ organization, email: who, subject }))
        const unlink = (who: string) =>
          act((requests) => requests.admins_unlink_identity({ organization: id, email: who }))
        expect(yield* link("nobody@acme.example", "ada")).toMatch(/has no admin/)
        expect(yield* link(email, "")).toMatch(/^subject: /)
        expect(yield* link(email, "ada")).toMatchObject({ issuer, subject: "ada" })
        expect(yield* link(email, "ada")).toMatchObject({ subject: "ada" })
        expect(yield* link(email, "eve")).toMatch(/is linked to ada: unlink/)
        expect(yield* link(owner, "ada")).toBe(`ada is linked to another admin of ${id}.`)
        expect(yield* link(owner, "Ada")).toMatchObject({ subject: "Ada" })
        const theirs = yield* Pages.emailOf(other.id, other.admins.admin.id)
        expect(yield* link(theirs, "ada", other.id)).toMatchObject({ subject: "ada" })
        expect(yield* act((requests) => requests.identity_provider_show({ organization: id }))).toMatchObject({
          links: expect.arrayContaining([expect.objectContaining({ email, subject: "ada" })]),
          unlinked: 3
        })
        const cookie = yield* Pages.signIn(id, admins.admin.id)
        expect(yield* unlink(email)).toMatchObject({ sessions: 1 })
        expect((yield* Pages.visit("GET", "/console/security", { cookie })).status).toBe(303)
        expect(yield* unlink(email)).toMatch(/is linked to nobody/)
        expect((yield* Outbox.waiting(id)).map(({ kind }) => kind)).toEqual([
          "identity_linked",
          "identity_linked",
          "identity_unlinked"
        ])

        // Who was removed holds nobody back who is invited again.
        yield* link(email, "ada")
        yield* World.set(id, "admin", admins.admin.id, { disabled_at: new Date(0), removed_at: new Date(0) })
        const billing = yield* Pages.emailOf(id, admins.billing.id)
        expect(yield* link(billing, "ada")).toMatchObject({ subject: "ada" })

        // Another issuer is another world: no link to the one before is good there.
        expect(yield* set(id, { issuer: `${issuer}/other`, client_secret: secret })).toMatchObject({
          ended: { links: 2 }
        })
      }))

    it.effect("end the sessions of everybody but the owner when all have to come by the provider", () =>
      Effect.gen(function*() {
        const { admins, id } = yield* World.makeOrganization()
        yield* set(id, { issuer, client_id: "console", client_secret: secret })
        const owner = yield* Pages.signIn(id, admins.owner.id)
        const admin = yield* Pages.signIn(id, admins.admin.id)
        expect(yield* set(id, { required: true })).toMatchObject({ ended: { sessions: 1 }, unlinked: 4 })
        const status = (cookie: string) =>
          Effect.map(Pages.visit("GET", "/console/security", { cookie }), (page) => page.status)
        expect([yield* status(owner), yield* status(admin)]).toEqual([200, 303])
      }))
  })

  it("take the secret from standard input, and print where the provider leads people back to", async () => {
    const data = dataDirectory()
    const words = "identity-provider set acme --issuer https://login.acme.example --client-id console".split(" ")
    await createAcme(data)
    const set = await doneInProcess(["organizations", ...words, "--client-secret-file", "-", "--data", data], {
      stdin: "a secret of the console\n"
    })
    expect(set).toContain("/console/sign-in/provider/callback/acme")
    expect(set).not.toContain("a secret of the console")
    expect(await runInProcess(["organizations", ...words, "--client-secret-file", "/nowhere", "--data", data]))
      .toMatchObject({ status: 1, stderr: "/nowhere cannot be read.\n" })
  })
})
