import { describe, expect, it } from "@effect/vitest"
import { hashRawSync } from "@node-rs/argon2"
import { Effect, Redacted } from "effect"
import * as zlib from "node:zlib"
import { argon2Cost } from "../../../../src/domain/archive/KeyDerivation.ts"
import { PasswordDerivation } from "../../../../src/ports/archive/ArchiveCrypto.ts"
import * as Derivation from "../../../../src/viewer/worker/Derivation.ts"
import { files, read } from "../../../repository/repository.ts"

/** The scripts of the viewer, compressed, with the cryptography: in bytes. */
const limit = 120 * 1024

/** Those of the page of the archive password: two thirds are the list of breached and common passwords. */
const keyLimit = 310 * 1024

const bundler = new URL("../../../../scripts/bundle-viewer.mjs", import.meta.url).href

describe("the scripts of the viewer", () => {
  it("are small, and have no way to make markup or code of a text", async () => {
    const { bundleOf } = await import(bundler)
    const [page, worker, keyPage, keyWorker, download] = await Promise.all(
      ["page", "worker", "key-page", "key-worker", "download"].map((name) => bundleOf(name))
    )
    const sizeOf = (...scripts: ReadonlyArray<string>) =>
      scripts.reduce((sum, script) => sum + zlib.gzipSync(script, { level: 9 }).length, 0)
    expect(sizeOf(page, worker)).toBeLessThan(limit)
    expect(sizeOf(keyPage)).toBeLessThan(4 * 1024)
    expect(sizeOf(keyPage, keyWorker)).toBeLessThan(keyLimit)
    expect(sizeOf(download)).toBeLessThan(6 * 1024)
    const sinks = /innerHTML|outerHTML|insertAdjacentHTML|document\.write|createContextualFragment|DOMParser|srcdoc/
    const stores = /localStorage|sessionStorage|indexedDB|caches\.|serviceWorker|document\.cookie/
    expect([sinks, stores].filter((pattern) => pattern.test(page + keyPage + download))).toEqual([])
    expect(/\bfetch\(|XMLHttpRequest|WebSocket|EventSource|sendBeacon/.test(keyWorker)).toBe(false)
    for (const file of files("src/viewer/**/*.ts")) {
      expect([file, sinks.test(read(file)), stores.test(read(file))]).toEqual([file, false, false])
    }
  })

  it.effect("derive what the service derives, of any password, at the usual cost and at others", () =>
    Effect.gen(function*() {
      const derivation = yield* PasswordDerivation
      const salt = "00112233445566778899aabbccddeeff"
      const costs = [argon2Cost, { memory_kib: 1024, passes: 1, lanes: 1 }, { memory_kib: 4096, passes: 4, lanes: 3 }]
      for (const cost of costs) {
        for (const password of ["harbour lantern archive", "Ångström e\u0301té 密码 🔑"]) {
          const derived = yield* derivation.derive(Redacted.make(password), { name: "argon2id", ...cost, salt })
          const expected = hashRawSync(password.normalize("NFC"), {
            memoryCost: cost.memory_kib,
            timeCost: cost.passes,
            parallelism: cost.lanes,
            outputLen: 64,
            salt: Buffer.from(salt, "hex")
          })
          expect(Buffer.from(Redacted.value(derived)).equals(expected)).toBe(true)
        }
      }
    }).pipe(Effect.provide(Derivation.layer)))
})
