/** Operations on the messenger that another process runs, because it has the account's session. */
import { Context, Effect, Schema } from "effect"
import type { AccountId } from "../domain/accounts/Account.ts"
import type { Failure, FailureClass } from "../domain/FailureBase.ts"
import type { Caller } from "../domain/people/Access.ts"
import { Elsewhere, type ForwardedReply } from "../ports/messenger/Elsewhere.ts"
import { remade } from "./FailureJson.ts"
import { Replayed } from "./Idempotency.ts"

/** The operation's end as it was elsewhere. */
const endOf = (
  decode: (text: string) => Effect.Effect<unknown, Schema.SchemaError>,
  failures: ReadonlyArray<FailureClass>
) =>
(reply: ForwardedReply): Effect.Effect<unknown, Failure> => {
  switch (reply._tag) {
    case "Answered": {
      const answer = Effect.orDie(decode(reply.text))
      return reply.replayed ? Effect.tap(answer, () => Effect.map(Replayed, (replayed) => replayed())) : answer
    }
    case "Failed": {
      const known = failures.find(({ identifier }) => identifier === reply.code)
      if (known === undefined) return Effect.die(new Error(`An operation failed elsewhere with ${reply.code}`))
      return Effect.fail(remade(known, reply.members))
    }
    case "Died":
      return Effect.die(new Error("An operation failed unexpectedly in another process"))
  }
}

/** Runs an operation elsewhere, or `here` where that is this process. */
export const forwarding = (
  operation: string,
  success: Schema.Codec<unknown, unknown>,
  failures: ReadonlyArray<FailureClass>
) => {
  const ended = endOf(Schema.decodeUnknownEffect(Schema.fromJsonString(Schema.toCodecJson(success))), failures)
  return <A, E, R>(
    request: { readonly accountId: AccountId; readonly caller: Caller["Service"]; readonly input: unknown },
    here: Effect.Effect<A, E, R>
  ): Effect.Effect<unknown, E | Failure, R> =>
    Effect.withFiber(({ context }) =>
      Effect.flatMap(
        Context.get(context, Elsewhere)({ operation, ...request }),
        (reply): Effect.Effect<unknown, E | Failure, R> => reply === null ? here : ended(reply)
      )
    )
}
