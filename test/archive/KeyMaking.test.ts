import { describe, expect, it } from "@effect/vitest"
import { Cause, Effect, Exit, Layer, Redacted, Schema } from "effect"
import { newEpoch } from "../../src/archive/EpochKeys.ts"
import { checkKey, makeKey } from "../../src/archive/KeyMaking.ts"
import { openToken, sealToken } from "../../src/archive/KeyPossession.ts"
import { makeKeyPair, makeRecoveryCode } from "../../src/archive/KeyWraps.ts"
import { toBase64 } from "../../src/domain/archive/Bytes.ts"
import { OwnKey, ownKeyText, readOwnKey } from "../../src/domain/archive/OwnKey.ts"
import { OrganizationId } from "../../src/domain/people/Access.ts"
import * as Vectors from "../support/archive/archiveVectors.ts"

const { organizationId } = Vectors
const password = Redacted.make("harbour lantern archive")

const over = (layer: (typeof Vectors.layers)[keyof typeof Vectors.layers]) =>
  Layer.merge(layer, Vectors.cheapDerivation)

const names = Object.keys(Vectors.layers) as ReadonlyArray<keyof typeof Vectors.layers>

describe("an archive key that is made outside the service", () => {
  it.effect("opens wherever it was made, once it was written and read, and shows nothing of its secrets", () =>
    Effect.gen(function*() {
      for (const maker of names) {
        const made = yield* Effect.provide(makeKey(organizationId, password), over(Vectors.layers[maker]))
        const text = ownKeyText(made.key)
        const key = readOwnKey(yield* Schema.decodeEffect(Schema.fromJsonString(OwnKey))(text))
        expect(key).toEqual(made.key)
        expect(text).not.toContain(Redacted.value(made.recoveryCode))
        for (const reader of names) {
          yield* Effect.provide(checkKey({ ...made, key }, password), over(Vectors.layers[reader]))
        }
      }
    }))

  it.effect("is not let out of the browser where a secret does not open it, or its public half is another's", () =>
    Effect.gen(function*() {
      const made = yield* makeKey(organizationId, password)
      const other = yield* makeKey(organizationId, password)
      const { keyId, publicKey } = other.key
      const wrongs = [
        { ...made, recoveryCode: yield* makeRecoveryCode },
        { ...made, key: { ...made.key, publicKey } },
        { ...made, key: { ...made.key, keyId } },
        { ...made, key: { ...made.key, organizationId: OrganizationId.make("other") } },
        { ...made, key: { ...made.key, password: other.key.password } },
        { ...made, key: { ...made.key, recovery: made.key.password } }
      ]
      for (const wrong of wrongs) {
        const exit = yield* Effect.exit(checkKey(wrong, password))
        expect(Exit.isFailure(exit) && Cause.hasDies(exit.cause)).toBe(true)
      }
      expect(Exit.isFailure(yield* Effect.exit(checkKey(made, Redacted.make("another password"))))).toBe(true)
    }).pipe(Effect.provide(over(Vectors.layers.web))))

  it.effect("answers the token that is sealed to it, for its own names alone, and opens nothing else in its place", () =>
    Effect.gen(function*() {
      const { keyId, publicKey, seed } = yield* makeKeyPair
      const key = { organizationId, keyId, publicKey, wrapId: "00".repeat(12) }
      const sealed = yield* Effect.provide(sealToken(key, "a token"), over(Vectors.layers.node))
      expect(yield* openToken(key, seed, sealed)).toBe("a token")
      const others = [
        openToken({ ...key, organizationId: OrganizationId.make("other") }, seed, sealed),
        openToken({ ...key, keyId: Vectors.keyId }, seed, sealed),
        openToken({ ...key, wrapId: "01".repeat(12) }, seed, sealed),
        openToken(key, (yield* makeKeyPair).seed, sealed),
        openToken(key, seed, `${sealed.slice(0, -8)}AAAAAAA=`),
        openToken(key, seed, "no base64")
      ]
      // A service that was taken over gives out the sealed key of an epoch instead.
      const epoch = yield* newEpoch({ ...Vectors.epochRef(1n), keyId }, publicKey)
      for (const each of [...others, openToken(key, seed, toBase64(epoch.sealedKey))]) {
        expect((yield* Effect.flip(each))._tag).toBe("ArchiveUnreadable")
      }
    }).pipe(Effect.provide(over(Vectors.layers.web))))
})
