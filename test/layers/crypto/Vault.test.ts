import { assert, describe, it } from "@effect/vitest"
import { Effect, Layer, Redacted, Schema } from "effect"
import { Peppers } from "../../../src/layers/crypto/Peppers.ts"
import { Vault } from "../../../src/layers/crypto/Vault.ts"
import { drawn } from "../../support/drawn.ts"

const pepper = (byte: number) => Buffer.alloc(32, byte).toString("base64")

/** A vault under these peppers, newest first. */
const vault = (...peppers: ReadonlyArray<string>) =>
  Effect.provide(Vault, Layer.provide(Vault.layer, Peppers.layerText(Redacted.make(peppers.join(",")))))

const opened = (one: Vault["Service"], sealed: string, context: ReadonlyArray<string>) =>
  Effect.map(
    Effect.exit(one.open(sealed, context)),
    (exit) => exit._tag === "Success" ? Redacted.value(exit.value) : null
  )

const context = ["acme", "account", "two_fa"]

describe("the vault", () => {
  it.effect.prop(
    "opens what it sealed, and its text shows nothing of it",
    [Schema.String.check(Schema.isMinLength(4)), Schema.Array(Schema.String)],
    ([secret, belongs]) =>
      Effect.gen(function*() {
        const one = yield* vault(pepper(1))
        const text = secret.toWellFormed()
        const sealed = one.seal(Redacted.make(text), belongs)
        assert.strictEqual(yield* opened(one, sealed, belongs), text)
        assert.match(sealed, /^[0-9a-f]{8}\.[\w-]+$/)
        assert.notStrictEqual(one.seal(Redacted.make(text), belongs), sealed)
        assert.isFalse(Buffer.from(sealed.slice(9), "base64url").includes(text))
      }),
    drawn(50)
  )

  it.effect("opens for what the secret was sealed for, and for nothing else", () =>
    Effect.gen(function*() {
      const one = yield* vault(pepper(1))
      const sealed = one.seal(Redacted.make("hunter2"), context)
      for (
        const other of [["acme", "account2", "two_fa"], ["bolt", "account", "two_fa"], ["acme", "account"], [], [
          "acmeaccount",
          "two_fa"
        ]]
      ) {
        assert.isNull(yield* opened(one, sealed, other))
      }
      assert.strictEqual(yield* opened(one, sealed, context), "hunter2")
    }))

  it.effect("does not open what was changed in any byte, or cut", () =>
    Effect.gen(function*() {
      const one = yield* vault(pepper(1))
      const sealed = one.seal(Redacted.make("hunter2"), context)
      const [id, body = ""] = sealed.split(".")
      const bytes = Buffer.from(body, "base64url")
      for (let index = 0; index < bytes.length; index++) {
        const changed = Buffer.from(bytes)
        changed[index] = (changed[index] ?? 0) ^ 1
        assert.isNull(yield* opened(one, `${id}.${changed.toString("base64url")}`, context))
      }
      for (const text of [`${id}.`, `${id}`, "", `${id}.${body.slice(0, 30)}`]) {
        assert.isNull(yield* opened(one, text, context))
      }
    }))

  it.effect("opens what an older pepper sealed as long as that is configured, and seals under the newest", () =>
    Effect.gen(function*() {
      const before = yield* vault(pepper(1))
      const sealed = before.seal(Redacted.make("hunter2"), context)
      const both = yield* vault(pepper(2), pepper(1))
      assert.strictEqual(yield* opened(both, sealed, context), "hunter2")
      const renewed = both.seal(Redacted.make("hunter2"), context)
      const after = yield* vault(pepper(2))
      assert.strictEqual(yield* opened(after, renewed, context), "hunter2")
      assert.isNull(yield* opened(after, sealed, context))
    }))
})
