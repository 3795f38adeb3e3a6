/** A file leaves its worker as it found it, for the next one goes on in it. */
import { afterAll, beforeAll, expect, vi } from "vitest"

const listening = new Set(["TCPServerWrap", "PipeServerWrap", "ProcessWrap"])

/** Servers that listen, and processes that run. */
const open = (): number => process.getActiveResourcesInfo().filter((kind) => listening.has(kind)).length

const state = () => ({
  environment: { ...process.env },
  directory: process.cwd(),
  words: [...process.argv],
  // Libraries keep something there under a name that is nobody else's, from when they are loaded.
  globals: Object.keys(globalThis).filter((name) => !/^(?:__|~)/.test(name)).toSorted(),
  // What a module does at the end of the process it does once, when it is loaded.
  listeners: Object.fromEntries(
    process.eventNames().filter((name) => name !== "exit").map((name) => [name, process.listenerCount(name)])
  ),
  fakeTimers: vi.isFakeTimers()
})

let found: { readonly state: ReturnType<typeof state>; readonly open: number }

beforeAll(() => {
  found = { state: state(), open: open() }
})

afterAll(async () => {
  expect(state()).toEqual(found.state)
  await vi.waitUntil(() => open() <= found.open, { timeout: 10_000 })
})
