import { describe, expect, it } from "@effect/vitest"
import { Effect, Redacted } from "effect"
import * as crypto from "node:crypto"
import * as fs from "node:fs"
import * as os from "node:os"
import * as path from "node:path"
import { hmac, PepperInvalid, Peppers } from "../../../src/layers/crypto/Peppers.ts"

const read = (text: string) => Effect.provide(Peppers, Peppers.layerText(Redacted.make(text)))

const encoded = (byte: number, length = 32) => Buffer.alloc(length, byte).toString("base64")

const bytes = (peppers: Peppers["Service"]) => peppers.map(({ key }) => Redacted.value(key).export())

const folder = Effect.acquireRelease(
  Effect.sync(() => fs.mkdtempSync(path.join(os.tmpdir(), "pepper-test-"))),
  (folder) => Effect.sync(() => fs.rmSync(folder, { recursive: true, force: true }))
)

const inDirectory = (directory: string) => Effect.provide(Peppers, Peppers.layerDirectory(directory))

describe("Peppers", () => {
  it.effect("are read newest first, each with an id that identifies it and reveals nothing", () =>
    Effect.gen(function*() {
      const peppers = yield* read(`${encoded(1)}, ${encoded(2, 64)}\n,${encoded(3)}`)
      expect(bytes(peppers)).toEqual([Buffer.alloc(32, 1), Buffer.alloc(64, 2), Buffer.alloc(32, 3)])
      const id = crypto.createHash("sha256").update(Buffer.alloc(32, 1)).digest("hex").slice(0, 8)
      expect(peppers[0].id).toBe(id)
      expect(new Set(peppers.map((pepper) => pepper.id)).size).toBe(3)
    }))

  it.effect("with fewer than 32 bytes are refused, without a word of what was given", () =>
    Effect.gen(function*() {
      for (const text of ["", encoded(1, 31), `${encoded(1)},`, `${encoded(1)},c2hvcnQ=`, "not a key"]) {
        const refusal = yield* Effect.flip(read(text))
        expect(refusal).toBeInstanceOf(PepperInvalid)
        expect(refusal.message).toBe("A key has at least 32 bytes, written in base64.")
      }
    }))

  it.effect("do not show when they are printed", () =>
    Effect.gen(function*() {
      const peppers = yield* read(encoded(1))
      expect(JSON.stringify(peppers)).not.toContain(encoded(1))
      expect(String(peppers[0].key)).toBe("<redacted>")
    }))

  it.effect("of a directory are made once, 32 random bytes that only their owner reads", () =>
    Effect.gen(function*() {
      const [one, two] = [yield* folder, yield* folder]
      const made = yield* inDirectory(one)
      expect(bytes(made)[0]).toHaveLength(32)
      expect(bytes(yield* inDirectory(one))).toEqual(bytes(made))
      expect(bytes(yield* inDirectory(two))).not.toEqual(bytes(made))
      expect(fs.readdirSync(one)).toEqual(["pepper"])
      expect(fs.statSync(path.join(one, "pepper")).mode & 0o777).toBe(0o600)
    }))

  it.effect("of a directory whose first start was cut short are made anew", () =>
    Effect.gen(function*() {
      const directory = yield* folder
      fs.writeFileSync(path.join(directory, "pepper.new"), "half")
      const made = yield* inDirectory(directory)
      expect(bytes(yield* inDirectory(directory))).toEqual(bytes(made))
      expect(fs.readdirSync(directory)).toEqual(["pepper"])
    }))

  it.effect("of a directory are refused when the file is damaged, and never replaced", () =>
    Effect.gen(function*() {
      const directory = yield* folder
      fs.writeFileSync(path.join(directory, "pepper"), "damaged\n")
      expect(yield* Effect.flip(inDirectory(directory))).toBeInstanceOf(PepperInvalid)
      expect(fs.readFileSync(path.join(directory, "pepper"), "utf8")).toBe("damaged\n")
    }))

  it.effect("make digests by HMAC-SHA-256", () =>
    Effect.gen(function*() {
      // RFC 4231, test case 6: a key of 131 bytes.
      const [pepper] = yield* read(Buffer.alloc(131, 0xaa).toString("base64"))
      expect(hmac(pepper, "Test Using Larger Than Block-Size Key - Hash Key First")).toBe(
        "60e431591ee0b67f0d8a26aacbf5b77f8e0bc6213728c5140546040f0ee37f54"
      )
    }))
})
