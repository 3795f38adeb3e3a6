/** Operations that read the database. */
import { Clock, Context, Effect } from "effect"
import type { ResourceMissing, ServiceUnavailable } from "../../domain/Failure.ts"
import { Caller } from "../../domain/people/Access.ts"
import { Db } from "../../ports/Db.ts"
import type { RequestContext } from "../Context.ts"
import type { KernelServices } from "../Contract.ts"
import type { Resolve, Targeting } from "../Resolve.ts"

/** Runs an operation that can change nothing. */
export const runRead = <I extends Targeting, A, E, R>(
  resolve: Resolve,
  run: (input: I, context: RequestContext) => Effect.Effect<A, E, R>
) =>
(input: I): Effect.Effect<A, E | ResourceMissing | ServiceUnavailable, R | KernelServices<"read">> =>
  Effect.withFiber(({ context }) => {
    const caller = Context.getUnsafe(context, Caller)
    const now = new Date(Context.get(context, Clock.Clock).currentTimeMillisUnsafe())
    return Context.getUnsafe(context, Db).read(
      caller.organizationId,
      Effect.flatMap(resolve(caller, input, false), (account) => run(input, { caller, now, account }))
    )
  })
