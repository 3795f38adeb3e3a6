/** Operations that read the database. */
import { Clock, Effect } from "effect"
import { Caller } from "../../domain/Access.ts"
import { Db } from "../../ports/Db.ts"
import type { Known } from "../Context.ts"
import type { Resolve, Targeting } from "../Resolve.ts"

/** Runs in one transaction that can change nothing. */
export const runRead = <I extends Targeting, A, E, R>(
  resolve: Resolve,
  run: (input: I, context: Known) => Effect.Effect<A, E, R>
) =>
  Effect.fnUntraced(function*(input: I) {
    const caller = yield* Caller
    const db = yield* Db
    const now = new Date(yield* Clock.currentTimeMillis)
    return yield* db.read(
      caller.organizationId,
      Effect.flatMap(resolve(caller, input, false), (account) => run(input, { caller, now, account }))
    )
  })
