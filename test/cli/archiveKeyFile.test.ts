import { describe, expect, it } from "@effect/vitest"
import { Effect, Layer, Redacted } from "effect"
import * as fs from "node:fs"
import * as path from "node:path"
import { checkKey } from "../../src/archive/KeyMaking.ts"
import { readKeyFile } from "../../src/cli/commands/archive/KeyFile.ts"
import { readOwnKey } from "../../src/domain/archive/OwnKey.ts"
import * as PasswordDerivation from "../../src/layers/archive/PasswordDerivation.ts"
import * as WebCrypto from "../../src/layers/archive/WebCrypto.ts"
import { runInProcess } from "../support/cli/inProcess.ts"
import { scratch } from "../support/run/scratch.ts"

const password = "harbour lantern archive"

const inFolder = Effect.acquireRelease(
  Effect.sync(() => fs.mkdtempSync(path.join(scratch, "keys-"))),
  (folder) => Effect.sync(() => fs.rmSync(folder, { recursive: true }))
)

const make = (file: string, stdin: string) =>
  Effect.promise(() => runInProcess(["archive", "key", "make", "acme", "--to", file], { stdin }))

describe("the file of an archive key", () => {
  it.effect("is made without a database, opens by the password and the printed code, and is never overwritten", () =>
    Effect.gen(function*() {
      const file = path.join(yield* inFolder, "key.json")
      const weak = yield* make(file, "acme acme acme\n")
      expect([weak.status, weak.stderr]).toEqual([1, "A password does not contain the organization's id.\n"])
      const made = yield* make(file, `${password}\n`)
      expect(made.status).toBe(0)
      const [said, code = ""] = made.stdout.trimEnd().split("\n")
      expect(said).toBe(`${file} has a key for the archive of acme. Keep its recovery code, which is shown this once:`)
      const text = fs.readFileSync(file, "utf8")
      expect([text.includes(code), text.includes(password), fs.statSync(file).mode & 0o777])
        .toEqual([false, false, 0o600])
      const own = yield* readKeyFile(file)
      expect(own.organization_id).toBe("acme")
      yield* checkKey(
        { key: readOwnKey(own), recoveryCode: Redacted.make(code) },
        Redacted.make(password)
      ).pipe(Effect.provide(Layer.merge(WebCrypto.layer, PasswordDerivation.layer)))
      const again = yield* make(file, `${password}\n`)
      expect([again.status, again.stderr]).toEqual([1, `${file} cannot be written, or is there already.\n`])
      expect(fs.readFileSync(file, "utf8")).toBe(text)
    }))

  it.effect("is refused with the member at fault", () =>
    Effect.gen(function*() {
      const file = path.join(yield* inFolder, "key.json")
      const refusal = (text: string) =>
        Effect.andThen(
          Effect.sync(() => fs.writeFileSync(file, text)),
          Effect.map(Effect.flip(readKeyFile(file)), ({ message }) => message.replace(file, "FILE"))
        )
      expect((yield* Effect.flip(readKeyFile(`${file}.none`))).message).toContain("cannot be read")
      expect(yield* refusal("{")).toBe("FILE cannot be read, or is no file of a key.")
      expect(yield* refusal(" ".repeat(100_000))).toBe("FILE cannot be read, or is no file of a key.")
      expect(yield* refusal("{}")).toBe("FILE: organization_id: is required.")
      expect(yield* refusal(JSON.stringify({ organization_id: "acme", key_id: "1" })))
        .toBe("FILE: key_id: expected a UUID in lower case.")
    }))
})
