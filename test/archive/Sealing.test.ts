import { describe, expect, it } from "@effect/vitest"
import { Effect, Redacted } from "effect"
import * as fc from "fast-check"
import * as crypto from "node:crypto"
import * as fs from "node:fs"
import * as EpochKeys from "../../src/archive/EpochKeys.ts"
import * as Frames from "../../src/archive/Frames.ts"
import * as KeyWraps from "../../src/archive/KeyWraps.ts"
import { openVocabulary } from "../../src/archive/Vocabularies.ts"
import { concat } from "../../src/domain/archive/Bytes.ts"
import { decodeRecords } from "../../src/domain/archive/Columns.ts"
import { FrameKind, type FramePlace } from "../../src/domain/archive/Epoch.ts"
import type { MessageRecord } from "../../src/domain/archive/Records.ts"
import { ArchiveUnreadable } from "../../src/domain/archive/Unreadable.ts"
import * as NodeCrypto from "../../src/layers/archive/NodeCrypto.ts"
import type { ArchiveCrypto, PasswordDerivation } from "../../src/ports/archive/ArchiveCrypto.ts"
import frames from "../golden/archive/1/frames.json" with { type: "json" }
import vocabulary from "../golden/archive/1/vocabulary.json" with { type: "json" }
import { records } from "../support/archive/archiveRecords.ts"
import * as Vectors from "../support/archive/archiveVectors.ts"
import { makeVocabulary } from "../support/archive/vocabularies.ts"
import { tried } from "../support/drawn.ts"

const { fromHex, toHex } = Vectors

const place = { ...Vectors.vectorPlace, kind: "messages" } as const
const message: MessageRecord = {
  id: 1n,
  at: 1_772_355_600,
  archivedAt: 1_772_355_601,
  from: null,
  kind: "text",
  text: "hello",
  details: {}
}

const openVectors = Effect.forEach(
  Vectors.epochs,
  ({ ref, sealed_key }) => EpochKeys.openEpoch(ref, fromHex(sealed_key), Vectors.vectorSeed())
)

/** The opened epochs by their number; another number is none of the account's. */
const keysOf = (keys: ReadonlyArray<EpochKeys.EpochKey>) => (epochId: bigint) => {
  const key = keys.find(({ ref }) => ref.epochId === epochId)
  return key === undefined ? Effect.fail(new ArchiveUnreadable({ part: "epoch" })) : Effect.succeed(key)
}

const newKey = Effect.map(EpochKeys.newEpoch(Vectors.epochRef(7n), Vectors.publicKey), ({ key }) => key)

const partOf = <A, R>(opening: Effect.Effect<A, ArchiveUnreadable, R>) =>
  Effect.map(Effect.flip(opening), ({ part }) => part)

const onNode = <A, E>(effect: Effect.Effect<A, E, ArchiveCrypto | PasswordDerivation>) =>
  Effect.provide(effect, [NodeCrypto.layer, Vectors.cheapDerivation])

describe.each(Object.entries(Vectors.layers))("the frozen vectors by %s", (_, layer) => {
  const provided = <A, E>(effect: Effect.Effect<A, E, ArchiveCrypto | PasswordDerivation>) =>
    Effect.provide(effect, [layer, Vectors.cheapDerivation])

  it.effect("every wrap opens to the seed", () =>
    provided(Effect.gen(function*() {
      expect(Vectors.wraps.map(({ row }) => row.kind)).toEqual(["password", "password", "recovery"])
      for (const { row, secret } of Vectors.wraps) {
        const seed = yield* KeyWraps.unwrapSeed({ ...wrapRef, kind: row.kind }, row, secret)
        expect(Redacted.value(seed.bytes)).toEqual(Redacted.value(Vectors.vectorSeed().bytes))
        expect(seed.keyId).toBe(Vectors.keyId)
      }
    })))

  it.effect("every epoch opens to its key and subkeys", () =>
    provided(Effect.gen(function*() {
      for (const [at, key] of (yield* openVectors).entries()) {
        const { key: expected, subkeys } = Vectors.epochs[at] ?? {}
        expect(toHex(Redacted.value(key.key))).toBe(expected)
        const { files, frames, marks, vocabularies } = key
        const opened = { frames, vocabularies, files, marks }
        expect(Object.entries(opened).map(([name, value]) => [name, toHex(Redacted.value(value))])).toEqual(
          Object.entries(subkeys ?? {})
        )
      }
    })))

  it.effect("every frame and the page of two epochs open to their records, and have their digests", () =>
    provided(Effect.gen(function*() {
      const keys = keysOf(yield* openVectors)
      for (const { bytes, columns, digest, kind, records } of frames.frames) {
        const known = FrameKind.literals.find((one) => one === kind) ?? "messages"
        const opened = yield* Frames.openFrames(keys, { ...place, kind: known }, fromHex(bytes))
        expect(Vectors.asVector(opened)).toEqual(records)
        expect(Vectors.asVector(decodeRecords(known, Buffer.from(columns)))).toEqual(records)
        expect(toHex(yield* Frames.digestOf(fromHex(bytes)))).toBe(digest)
      }
      const { bytes, digest } = frames.page
      expect(Vectors.asVector(yield* Frames.openFrames(keys, place, fromHex(bytes)))).toEqual(
        frames.frames[0]?.records
      )
      expect(toHex(yield* Frames.digestOf(fromHex(bytes)))).toBe(digest)
      expect(yield* Frames.epochsOf(fromHex(bytes))).toEqual(Vectors.epochs.map(({ ref }) => ref.epochId))
    })))

  it.effect("the vocabulary opens to its words and pages, which its texts still have", () =>
    provided(Effect.gen(function*() {
      const key = yield* keysOf(yield* openVectors)(BigInt(vocabulary.epoch_id))
      const opened = yield* openVocabulary(key, BigInt(vocabulary.block_id), fromHex(vocabulary.sealed))
      expect([opened.messages, opened.words]).toEqual([vocabulary.messages, vocabulary.words])
      expect(toHex(yield* opened.postings)).toBe(vocabulary.postings)
      const made = makeVocabulary(vocabulary.pages, vocabulary.messages)
      expect([made.words, toHex(made.postings)]).toEqual([vocabulary.words, vocabulary.postings])
    })))
})

/** The SHA-256 of each frozen file: it changes with no release. */
const frozen = {
  "blobs.json": "49b24a46347033fbab385e1209d05dce9342216942c7a21883bb1f3ff9d7c15e",
  "frames.json": "af7e95b3f5a0879d2d97616f189febe916e53c41435bc82492471cab6e9469c1",
  "hpke.json": "c138a808e029491ec988cc255991bece551dca15bae4586634bb5329d88619ca",
  "keys.json": "8179a6e366bac321f5d5c0e58c5bd780f9aaa933b7daa884b6ab72bb5d6a6863",
  "vocabulary.json": "5efe8f8ae75e37231d99e1f3989e7750b6d2ad826ad29ecf3838a79e4d1ffe29",
  "x-wing.json": "b67266a1a7825680d4b4a01f0d44c350d4046efc2c0c77fcd1fec9a13e8b8f9d"
}

describe("the frozen vectors", () => {
  it("are the files that were frozen, byte for byte", () => {
    const directory = new URL("../golden/archive/1/", import.meta.url)
    const digests = fs.readdirSync(directory).toSorted().map((name) => [
      name,
      crypto.createHash("sha256").update(fs.readFileSync(new URL(name, directory))).digest("hex")
    ])
    expect(Object.fromEntries(digests)).toEqual(frozen)
  })
})

const wrapRef = { organizationId: Vectors.organizationId, keyId: Vectors.keyId, publicKey: Vectors.publicKey }

describe("a wrap of the archive's key", () => {
  const password = Redacted.make("harbour lantern archive")

  it.effect("made of a new pair opens with its password and its recovery code, and with nothing else", () =>
    onNode(Effect.gen(function*() {
      const pair = yield* KeyWraps.makeKeyPair
      const code = yield* KeyWraps.makeRecoveryCode
      const ref = { ...wrapRef, keyId: pair.keyId, publicKey: pair.publicKey }
      for (const [kind, secret] of [["password", password], ["recovery", code]] as const) {
        const wrap = yield* KeyWraps.wrapSeed({ ...ref, kind }, secret, pair.seed)
        const seed = yield* KeyWraps.unwrapSeed({ ...ref, kind }, wrap, secret)
        expect(Redacted.value(seed.bytes)).toEqual(Redacted.value(pair.seed.bytes))
        const others = [Redacted.make("harbour lantern archivE"), Redacted.make(""), yield* KeyWraps.makeRecoveryCode]
        for (const other of others) {
          const refusal = yield* Effect.flip(KeyWraps.unwrapSeed({ ...ref, kind }, wrap, other))
          expect(refusal._tag).toBe("WrongArchivePassword")
        }
      }
    })))

  it.effect("opens for no other organization, key, public key or kind, and with no bit changed", () =>
    onNode(Effect.gen(function*() {
      const seed = Vectors.vectorSeed()
      const ref = { ...wrapRef, kind: "password" as const }
      const wrap = yield* KeyWraps.wrapSeed(ref, password, seed)
      const pair = yield* KeyWraps.makeKeyPair
      const refusal = (at: Parameters<typeof KeyWraps.unwrapSeed>[0], row: KeyWraps.WrapRow) =>
        Effect.map(Effect.flip(KeyWraps.unwrapSeed(at, row, password)), ({ _tag }) => _tag)
      const other = { ...ref, organizationId: Vectors.otherOrganizationId }
      expect(yield* refusal(other, wrap)).toBe("WrongArchivePassword")
      expect(yield* refusal({ ...ref, keyId: pair.keyId }, wrap)).toBe("WrongArchivePassword")
      expect(yield* refusal({ ...ref, publicKey: pair.publicKey }, wrap)).toBe("WrongArchivePassword")
      expect(yield* refusal({ ...ref, kind: "recovery" }, wrap)).toBe("ArchiveUnreadable")
      expect(yield* refusal(ref, { ...wrap, kdf: { name: "hkdf-sha256" } })).toBe("ArchiveUnreadable")
      expect(yield* refusal(ref, { ...wrap, proof: flipped(wrap.proof, 3) })).toBe("WrongArchivePassword")
      expect(yield* refusal(ref, { ...wrap, proof: new Uint8Array() })).toBe("WrongArchivePassword")
      for (
        const changed of [{ nonce: flipped(wrap.nonce, 3) }, { sealed: flipped(wrap.sealed, 3) }, {
          nonce: new Uint8Array()
        }]
      ) {
        expect(yield* refusal(ref, { ...wrap, ...changed })).toBe("ArchiveUnreadable")
      }
    })))

  it.effect("shows nothing of the seed where it is printed, and is zeroed by its owner", () =>
    onNode(Effect.gen(function*() {
      const { seed } = yield* KeyWraps.makeKeyPair
      expect(JSON.stringify(seed)).not.toMatch(/\d+,\d+/)
      yield* KeyWraps.eraseSeed(seed)
      expect(Redacted.value(seed.bytes)).toEqual(new Uint8Array(32))
    })))
})

const flipped = (bytes: Uint8Array, at: number): Uint8Array =>
  bytes.map((byte, index) => index === at ? byte ^ 1 : byte)

describe("an epoch's key", () => {
  it.effect("opens for its organization, account, epoch and archive key alone", () =>
    onNode(Effect.gen(function*() {
      const ref = Vectors.epochRef(7n)
      const { key, sealedKey } = yield* EpochKeys.newEpoch(ref, Vectors.publicKey)
      expect(sealedKey).toHaveLength(1168)
      const opened = yield* EpochKeys.openEpoch(ref, sealedKey, Vectors.vectorSeed())
      expect(Redacted.value(opened.key)).toEqual(Redacted.value(key.key))
      const pair = yield* KeyWraps.makeKeyPair
      const others = [
        { ...ref, epochId: 8n },
        { ...ref, organizationId: Vectors.otherOrganizationId },
        { ...ref, accountId: Vectors.otherAccountId },
        { ...ref, keyId: pair.keyId }
      ]
      for (const other of others) {
        expect(yield* partOf(EpochKeys.openEpoch(other, sealedKey, Vectors.vectorSeed()))).toBe("epoch")
      }
      expect(yield* partOf(EpochKeys.openEpoch(ref, sealedKey, pair.seed))).toBe("epoch")
      expect(yield* partOf(EpochKeys.openEpoch(ref, flipped(sealedKey, 1130), Vectors.vectorSeed()))).toBe("epoch")
    })))

  it.effect("is zeroed with all its subkeys by its owner", () =>
    onNode(Effect.gen(function*() {
      const key = yield* newKey
      yield* EpochKeys.eraseEpochKey(key)
      for (
        const { bytes } of [key.key, key.frames, key.vocabularies, key.files, key.marks].map((bytes) => ({ bytes }))
      ) {
        expect(Redacted.value(bytes)).toEqual(new Uint8Array(32))
      }
    })))
})

describe("a frame", () => {
  for (const kind of FrameKind.literals) {
    it(`of ${kind} opens to what was sealed`, () =>
      fc.assert(
        fc.asyncProperty(records[kind], (given) =>
          Effect.runPromise(onNode(Effect.gen(function*() {
            const key = yield* newKey
            const here: FramePlace<typeof kind> = { ...place, kind }
            const frame = yield* Frames.sealFrame(key, here, 3, given)
            expect(yield* Frames.openFrames(keysOf([key]), here, frame)).toEqual(given)
            expect((frame.length - 20 - 28) % 64).toBe(0)
          })))),
        tried(40)
      ))
  }

  it("with any bit changed, or cut anywhere, does not open", () =>
    Effect.runPromise(onNode(Effect.gen(function*() {
      const key = yield* newKey
      const frame = yield* Frames.sealFrame(key, place, 3, [message])
      const open = (bytes: Uint8Array) => partOf(Frames.openFrames(keysOf([key]), place, bytes))
      for (let bit = 0; bit < frame.length * 8; bit += 1) {
        const wrong = frame.slice()
        wrong[bit >> 3] = (wrong[bit >> 3] ?? 0) ^ 1 << (bit & 7)
        expect(["frame", "epoch"]).toContain(yield* open(wrong))
      }
      for (let size = 0; size < frame.length; size++) expect(yield* open(frame.slice(0, size))).toBe("frame")
      expect(yield* open(concat(frame, Uint8Array.of(0)))).toBe("frame")
    }))))

  it.effect("does not open in another chat, day, kind, account, organization or epoch", () =>
    onNode(Effect.gen(function*() {
      const key = yield* newKey
      const frame = yield* Frames.sealFrame(key, place, 3, [message])
      const open = (ref: EpochKeys.EpochKey["ref"], here: FramePlace, bytes = frame) =>
        partOf(Frames.openFrames(() => Effect.succeed({ ...key, ref }), here, bytes))
      const { ref } = key
      expect(yield* open(ref, { ...place, chatId: place.chatId + 1n })).toBe("frame")
      expect(yield* open(ref, { ...place, day: "2026-03-02" })).toBe("frame")
      expect(yield* open(ref, { ...place, kind: "changes" })).toBe("frame")
      expect(yield* open({ ...ref, accountId: Vectors.otherAccountId }, place)).toBe("frame")
      expect(yield* open({ ...ref, organizationId: Vectors.otherOrganizationId }, place)).toBe("frame")
      expect(yield* open({ ...ref, epochId: 8n }, place)).toBe("frame")
      const other = { ...(yield* newKey), ref }
      expect(yield* partOf(Frames.openFrames(() => Effect.succeed(other), place, frame))).toBe("frame")
    })))

  it.effect("of a reordered or shortened page still opens, but the page has another digest", () =>
    onNode(Effect.gen(function*() {
      const key = yield* newKey
      const one = yield* Frames.sealFrame(key, place, 3, [message])
      const two = yield* Frames.sealFrame(key, place, 4, [{ ...message, id: 2n }])
      const page = concat(one, two)
      const opened = yield* Frames.openFrames(keysOf([key]), place, page)
      expect(opened.map(({ id }) => id)).toEqual([1n, 2n])
      const digest = toHex(yield* Frames.digestOf(page))
      for (const wrong of [concat(two, one), one, concat(one, one), concat(page, one)]) {
        expect(toHex(yield* Frames.digestOf(wrong))).not.toBe(digest)
      }
    })))

  it.effect("takes at most 8 MiB of columns, and a number below 2^24", () =>
    onNode(Effect.gen(function*() {
      const key = yield* newKey
      const sized = (length: number) => Frames.sealFrame(key, place, 0, [{ ...message, text: "x".repeat(length) }])
      const full = yield* sized(8 * 1024 * 1024 - 200)
      expect(yield* Frames.openFrames(keysOf([key]), place, full)).toHaveLength(1)
      expect((yield* Effect.flip(sized(8 * 1024 * 1024))).bytes).toBeGreaterThan(8 * 1024 * 1024)
      for (const frame of [-1, 2 ** 24]) {
        expect((yield* Effect.exit(Frames.sealFrame(key, place, frame, [message])))._tag).toBe("Failure")
      }
    })))

  it.effect("that inflates beyond 8 MiB does not open", () =>
    onNode(Effect.gen(function*() {
      const key = yield* newKey
      const bomb = yield* Vectors.sealPlain(key, place, Buffer.alloc(9 * 1024 * 1024, 32))
      expect(yield* partOf(Frames.openFrames(keysOf([key]), place, bomb))).toBe("frame")
      const text = yield* Vectors.sealPlain(key, place, Buffer.from("no columns"))
      expect(yield* partOf(Frames.openFrames(keysOf([key]), place, text))).toBe("records")
    })))
})
