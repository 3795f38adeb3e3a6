/** Operations that read the database. */
import { Clock, Context, Effect } from "effect"
import type { ResourceMissing, ServiceUnavailable } from "../../domain/Failure.ts"
import { Caller } from "../../domain/people/Access.ts"
import { Db } from "../../ports/Db.ts"
import type { RequestContext } from "../Context.ts"
import type { KernelServices } from "../Contract.ts"
import type { Resolve, Targeting } from "../Resolve.ts"

/** Runs an operation that can change nothing; what is read with the account travels with it. */
export const runRead = <I extends Targeting, A, E, R, B, R2>(
  resolve: Resolve,
  beside: ((input: I, caller: Caller["Service"]) => Effect.Effect<B, never, R2>) | undefined,
  run: (input: I, context: RequestContext & { readonly beside: B | undefined }) => Effect.Effect<A, E, R>
) =>
(input: I): Effect.Effect<A, E | ResourceMissing | ServiceUnavailable, R | R2 | KernelServices<"read">> =>
  Effect.withFiber(({ context }) => {
    const caller = Context.getUnsafe(context, Caller)
    const now = new Date(Context.get(context, Clock.Clock).currentTimeMillisUnsafe())
    const found = resolve(caller, input, false)
    return Context.getUnsafe(context, Db).read(
      caller.organizationId,
      beside === undefined
        ? Effect.flatMap(found, (account) => run(input, { caller, now, account, beside: undefined }))
        : Effect.flatMap(
          Effect.all([found, beside(input, caller)], { concurrency: "unbounded" }),
          ([account, known]) => run(input, { caller, now, account, beside: known })
        )
    )
  })
