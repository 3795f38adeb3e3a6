import { Effect, Layer } from "effect"
import * as Ports from "../../../ports/index.ts"
import * as Appends from "./JournalAppends.ts"
import * as Reads from "./JournalReads.ts"

/**
 * The journal in SQL. The role of tenants may read it and append to it; by which department an event is found follows
 * the account.
 */
export const layer = Layer.effect(
  Ports.Journal,
  Effect.gen(function*() {
    return Ports.Journal.of({ ...yield* Appends.make, ...yield* Reads.make })
  })
)
