/** A process over a store in memory that nothing ends. */
import { expect } from "@effect/vitest"
import { Effect, Semaphore } from "effect"
import { organization, processOver, type Stored } from "./memoryCapture.ts"

/** The services of a process that is alone; a law that it breaks fails the test. */
export const livingProcess = (stored: Stored, committed: Effect.Effect<void> = Effect.void) =>
  processOver(
    stored,
    Semaphore.makeUnsafe(1),
    organization,
    { dies: () => null, committed },
    (law) => expect(law).toBe("")
  )
