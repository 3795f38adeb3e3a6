import { Effect, Layer } from "effect"
import * as Ports from "../../../ports/index.ts"
import * as Changes from "./AccountChanges.ts"
import * as Reads from "./AccountReads.ts"

/** The accounts in SQL: an account that the caller cannot access is not found, by the same statement for every reason. */
export const layer = Layer.effect(
  Ports.Accounts,
  Effect.gen(function*() {
    return Ports.Accounts.of({ ...yield* Reads.make, ...yield* Changes.make })
  })
)
