import { afterEach, describe, expect, it } from "@effect/vitest"
import * as fc from "fast-check"
import { vi } from "vitest"
import { tried } from "../../support/drawn.ts"

/** The module as it is where the platform has what this one has, or less. */
const load = async (hasBuffers: boolean) => {
  vi.resetModules()
  if (!hasBuffers) vi.stubGlobal("Buffer", undefined)
  const bytes = await import("../../../src/domain/archive/Bytes.ts")
  vi.unstubAllGlobals()
  return bytes
}

describe("base64", () => {
  afterEach(() => {
    vi.unstubAllGlobals()
    vi.resetModules()
  })

  it.each([true, false])(
    "is written and read as RFC 4648 has it, with Node's buffers and without (%s)",
    async (hasBuffers) => {
      const { readBase64, toBase64 } = await load(hasBuffers)
      const content = fc.tuple(fc.uint8Array({ maxLength: 9000 }), fc.nat(9000))
      fc.assert(
        fc.property(content, ([whole, from]) => {
          const bytes = whole.subarray(from)
          const text = toBase64(bytes)
          expect(text).toBe(Buffer.from(bytes).toString("base64"))
          expect(readBase64(text)).toEqual(bytes)
        }),
        tried(100)
      )
      expect(readBase64("a*==")).toBeNull()
    }
  )
})
