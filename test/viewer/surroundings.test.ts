import { afterEach, describe, expect, it } from "@effect/vitest"
import { vi } from "vitest"

/** Modules of a page, whose types are those of browsers. */
const ofPage = (name: string) => import(new URL(`../../src/viewer/page/${name}.ts`, import.meta.url).href)
const { whenIdle }: { readonly whenIdle: (lock: () => void) => () => void } = await ofPage("IdleLock")
const { missing, missingForKeys }: Record<"missing" | "missingForKeys", () => ReadonlyArray<string>> = await ofPage(
  "MissingFeatures"
)

const minute = 60_000

/** A browser that has all that the viewer needs. */
const able = () => {
  vi.stubGlobal("isSecureContext", true)
  vi.stubGlobal("Worker", () => undefined)
}

describe("the viewer in a browser", () => {
  afterEach(() => {
    vi.useRealTimers()
    vi.unstubAllGlobals()
  })

  it("that lacks something says what, each by itself, and nothing where all is there", () => {
    able()
    expect(missing()).toEqual([])
    for (
      const [name, value, words] of [
        ["isSecureContext", false, "a secure connection (https)"],
        ["crypto", {}, "cryptography (WebCrypto)"],
        ["Worker", undefined, "workers"],
        ["WebAssembly", undefined, "WebAssembly"],
        ["DecompressionStream", undefined, "decompression"]
      ] as const
    ) {
      able()
      vi.stubGlobal(name, value)
      expect([name, missing()]).toEqual([name, [expect.stringContaining(words)]])
      expect(missingForKeys().length).toBe(name === "DecompressionStream" ? 0 : 1)
      vi.unstubAllGlobals()
    }
  })

  it("is locked 15 minutes after its last use, also where the computer slept meanwhile", () => {
    vi.useFakeTimers()
    const page = new EventTarget()
    const shown = new EventTarget()
    vi.stubGlobal("addEventListener", page.addEventListener.bind(page))
    vi.stubGlobal("removeEventListener", page.removeEventListener.bind(page))
    vi.stubGlobal("document", shown)
    let locked = 0
    const end = whenIdle(() => void (locked += 1))
    vi.advanceTimersByTime(14 * minute)
    page.dispatchEvent(new Event("keydown"))
    vi.advanceTimersByTime(14 * minute)
    expect(locked).toBe(0)
    // Asleep, a computer runs no timer.
    vi.setSystemTime(Date.now() + minute)
    shown.dispatchEvent(new Event("visibilitychange"))
    expect(locked).toBe(1)
    end()
    vi.advanceTimersByTime(60 * minute)
    expect(locked).toBe(1)
  })
})
