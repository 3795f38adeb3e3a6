import { describe, expect, layer } from "@effect/vitest"
import { Effect, Redacted } from "effect"
import { TestClock } from "effect/testing"
import * as crypto from "node:crypto"
import { SimulatedPlatform } from "../../src/layers/messenger/simulated/SimulatedPlatform.ts"
import { ask, makeStage } from "../support/http/requests.ts"
import { postgres } from "../support/postgres/database.ts"
import * as HeldSecrets from "../support/security/heldSecrets.ts"
import * as World from "../support/world.ts"

describe("5 secrets", () => {
  layer(World.world(postgres))((it) => {
    it.effect("no answer of any operation, and no entry of the journal, holds a secret or what is kept of one", () =>
      Effect.gen(function*() {
        const { account, every, organization, ready } = yield* makeStage()
        const platform = yield* SimulatedPlatform
        const password = `Password ${crypto.randomUUID()}`
        const passkey = `passkey-${crypto.randomUUID()}`
        yield* platform.changeSecurity(account.userId, {
          two_fa_password: Redacted.make(password),
          passkey_id: passkey,
          recovery_email: "someone@secret.example"
        })
        const sealed = yield* HeldSecrets.hold(organization.id, account.id, { password, passkey })
        const kept = yield* World.query<{ digest: string; pepper_id: string }>(
          organization.id,
          (sql) => sql`select digest, pepper_id from api_key where organization_id = ${organization.id}`
        )
        const secrets = [
          password,
          passkey,
          ...sealed,
          account.sessionRef,
          "someone@secret",
          "_live_",
          ...kept.flatMap(({ digest, pepper_id }) => [digest, pepper_id]),
          ...Object.values(organization.admins).map(({ key }) => Redacted.value(key).slice(9, 52))
        ]
        const managed = yield* World.get(
          `/v1/accounts/${account.id}/messenger-profile`,
          organization.admins.owner.key
        )
        expect(managed.body).toMatchObject({
          two_fa_managed: true,
          passkey_managed: true,
          recovery_email_pattern: expect.stringContaining("@secret.example")
        })
        for (const [role, { key }] of Object.entries(organization.admins)) {
          const all = role === "owner"
            ? ready(organization.admins.owner).map(({ request }) => request)
            : every.map((request) => Effect.succeed(request))
          for (const prepared of all) {
            yield* TestClock.adjust("2 seconds")
            const request = yield* prepared
            const { body, ...answered } = yield* ask(request, key)
            // Whoever creates a key is told it.
            const answer = { ...answered, body: body.secret === undefined ? body : { ...body, secret: null } }
            const wrong = yield* ask({ ...request, path: `${request.path}?${Redacted.value(key)}=${password}` }, key)
            const text = JSON.stringify([answer.body, [...answer.headers]])
            for (const secret of secrets) expect([request.id, text.includes(secret)]).toEqual([request.id, false])
            expect([400, 403]).toContain(wrong.status)
            expect(JSON.stringify(wrong.body)).not.toContain(password)
          }
        }
        const journal = JSON.stringify(yield* World.journal(organization.id))
        for (const secret of secrets) expect(journal.includes(secret)).toBe(false)
      }))
  })
})
