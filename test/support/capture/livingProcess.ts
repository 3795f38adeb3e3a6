/** A process over a store in memory that nothing ends. */
import { expect } from "@effect/vitest"
import { Context, Effect, Semaphore } from "effect"
import { OpenArchives } from "../../../src/capture/OpenArchives.ts"
import { drawnOf } from "./drawnNumbers.ts"
import { account, organization, processOver, rule, Stored } from "./memoryCapture.ts"
import { Platform } from "./modelPlatform.ts"

/** A run over the account, as it is claimed. */
export const claimedRun = { ...account, fence: 1, failures: 0, askedAt: null }

/** The services of a process that is alone; a law that it breaks fails the test. */
export const livingProcess = (stored: Stored, committed: Effect.Effect<void> = Effect.void) =>
  processOver(
    stored,
    Semaphore.makeUnsafe(1),
    organization,
    { dies: () => null, committed },
    (law) => expect(law).toBe("")
  )

/** The process, with each step that it takes counted. */
export const countingSteps = (process: ReturnType<typeof livingProcess>, count: () => void) => {
  const open = Context.get(process, OpenArchives)
  return Context.add(process, OpenArchives, {
    ...open,
    step: (account, work) => Effect.andThen(Effect.sync(count), open.step(account, work))
  })
}

/** A platform with messages in each chat, and a process that archives all of them. */
export const stage = (committed: Effect.Effect<void> = Effect.void) => {
  const platform = new Platform(drawnOf(1), 0)
  for (const chat of platform.chats.values()) {
    for (let sent = 0; sent < 12; sent++) platform.send(chat, null)
  }
  const stored = new Stored()
  stored.setRules([rule(null, "archive", true)])
  const process = livingProcess(stored, committed)
  return { platform, process, stored }
}
