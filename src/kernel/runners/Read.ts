/** Operations that read the database. */
import { Clock, Effect } from "effect"
import { Caller } from "../../domain/Access.ts"
import { Db } from "../../ports/Db.ts"
import type { Known } from "../Context.ts"
import type { Resolve, Targeting } from "../Resolve.ts"

/** Runs what can change nothing; what is read beside the account travels with it. */
export const runRead = <I extends Targeting, A, E, R, B, R2>(
  resolve: Resolve,
  beside: ((input: I, caller: Caller["Service"]) => Effect.Effect<B, never, R2>) | undefined,
  run: (input: I, context: Known & { readonly beside: B | undefined }) => Effect.Effect<A, E, R>
) =>
  Effect.fnUntraced(function*(input: I) {
    const caller = yield* Caller
    const db = yield* Db
    const now = new Date(yield* Clock.currentTimeMillis)
    const found = resolve(caller, input, false)
    return yield* db.read(
      caller.organizationId,
      beside === undefined
        ? Effect.flatMap(found, (account) => run(input, { caller, now, account, beside: undefined }))
        : Effect.flatMap(
          Effect.all([found, beside(input, caller)], { concurrency: "unbounded" }),
          ([account, known]) => run(input, { caller, now, account, beside: known })
        )
    )
  })
