import { describe, expect, layer } from "@effect/vitest"
import { Effect, Layer, Redacted } from "effect"
import * as Secrets from "../../../src/operator/security/Secrets.ts"
import { KeyEncryption } from "../../../src/ports/security/KeyEncryption.ts"
import { pglite } from "../../support/postgres/database.ts"
import * as HeldSecrets from "../../support/security/heldSecrets.ts"
import * as World from "../../support/world.ts"

/** A key management system whose key is exchanged now and then: what is sealed names the key's version. */
const system = { version: 1, asked: 0 }

const KeysLayer = Layer.succeed(KeyEncryption, {
  seal: (key, context) =>
    Effect.sync(() => {
      const text = JSON.stringify([Buffer.from(Redacted.value(key)).toString("base64"), context])
      return `kms:${system.version}:${Buffer.from(text).toString("base64url")}`
    }),
  open: (sealed, context) =>
    Effect.sync(() => {
      system.asked += 1
      const [key, sealedFor] = JSON.parse(Buffer.from(sealed.split(":")[2] ?? "", "base64url").toString())
      expect(sealedFor).toEqual(context)
      return Redacted.make(new Uint8Array(Buffer.from(key, "base64")))
    }),
  isCurrent: (sealed) => sealed.startsWith(`kms:${system.version}:`)
})

describe("a host's own key management", () => {
  layer(World.world(pglite).pipe(Layer.provide(KeysLayer)))((it) => {
    it.effect("seals the keys of accounts, and what it sealed before is sealed anew", () =>
      Effect.gen(function*() {
        const { id } = yield* World.makeOrganization()
        const account = yield* World.makeAccount(id)
        yield* HeldSecrets.hold(id, account, { password: "the account's" })
        const stored = World.query<{ sealed: string }>(
          id,
          (sql) => sql`select sealed from account_key where organization_id = ${id}`
        )
        expect((yield* stored)[0]?.sealed).toMatch(/^kms:1:/)
        const reveal = Effect.map(
          Secrets.revealTwoFa.run({ organization: id, account_id: account }),
          ({ password }) => Redacted.value(password)
        )
        expect(yield* reveal).toBe("the account's")
        expect(system.asked).toBeGreaterThan(0)
        system.version = 2
        expect(yield* Secrets.rewrapSecrets.run({})).toMatchObject({ accounts: 1 })
        expect(yield* Secrets.rewrapSecrets.run({})).toMatchObject({ accounts: 0 })
        expect((yield* stored)[0]?.sealed).toMatch(/^kms:2:/)
        expect(yield* reveal).toBe("the account's")
      }))
  })
})
