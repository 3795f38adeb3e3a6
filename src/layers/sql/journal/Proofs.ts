/** Verifies journals by their signed checkpoints: against an attacker who can write to the database, but not sign. */
import { Effect, Option } from "effect"
import { SqlClient } from "effect/sql"
import { type Checkpoint, noDigest, type PublicJwk } from "../../../domain/journal/Checkpoint.ts"
import { digest, judge } from "../../crypto/journal/CheckpointKeys.ts"
import * as Tenant from "../../postgres/Tenant.ts"
import * as Checkpoints from "./Checkpoints.ts"
import { LastCheckpoint } from "./LastCheckpoint.ts"

/**
 * What is wrong with the chain of checkpoints, and from which number on: one is missing, does not name the one before,
 * has a signature that is not its key's or a key that is not known, is not the one that was seen there before, or the
 * newest that were seen are gone.
 */
export type CheckpointsState =
  | { readonly ok: true; readonly number: number; readonly keys: ReadonlyArray<string> }
  | {
    readonly ok: false
    readonly number: number
    readonly reason: "gap" | "link" | "signature" | "key" | "replaced" | "lost"
  }

const page = 1000

/** Reads the checkpoints of the whole deployment, and looks for the earlier ones: given, or stored. */
export const verifyCheckpoints = Effect.fnUntraced(function*(
  keys: ReadonlyArray<PublicJwk>,
  given: ReadonlyArray<Checkpoint>
) {
  const sql = yield* SqlClient.SqlClient
  const remembered = Option.toArray(yield* (yield* LastCheckpoint).get)
  const seen = new Map<number, Set<string>>()
  for (const checkpoint of [...given, ...remembered]) {
    seen.set(checkpoint.number, (seen.get(checkpoint.number) ?? new Set()).add(digest(checkpoint)))
  }
  const signers = new Set<string>()
  let number = 0
  let previous = noDigest
  const wrong = (reason: "gap" | "link" | "signature" | "key" | "replaced" | "lost"): CheckpointsState => ({
    ok: false,
    number: number + 1,
    reason
  })
  while (true) {
    const checkpoints = yield* Tenant.directory(sql)(Checkpoints.after(number, page))
    for (const checkpoint of checkpoints) {
      if (checkpoint.number !== number + 1) return wrong("gap")
      if (checkpoint.previous !== previous) return wrong("link")
      const judged = judge(keys, checkpoint)
      if (judged !== "good") return wrong(judged)
      previous = digest(checkpoint)
      // One of two that were seen under a number was replaced, whichever is there now.
      const digests = seen.get(checkpoint.number) ?? new Set([previous])
      if (digests.size > 1 || !digests.has(previous)) return wrong("replaced")
      signers.add(checkpoint.key_id)
      number = checkpoint.number
    }
    if (checkpoints.length < page) break
  }
  if (Math.max(0, ...seen.keys()) > number) return wrong("lost")
  const whole: CheckpointsState = { ok: true, number, keys: [...signers] }
  return whole
})
