/** One request by each way into the service, and what it is answered. */
import { Effect, Redacted } from "effect"
import type * as Failure from "../../../src/domain/Failure.ts"
import { Caller } from "../../../src/domain/people/Access.ts"
import type * as Operation from "../../../src/kernel/Operation.ts"
import { Credentials } from "../../../src/ports/credentials/Credentials.ts"
import { archivePassword } from "../archive/archivePassword.ts"
import * as World from "../world.ts"

export type Arguments = Readonly<Record<string, unknown>>

/** Without one of its members. */
export const without = (args: Arguments, name: string): Arguments =>
  Object.fromEntries(Object.entries(args).filter(([other]) => other !== name))

/** The request over HTTP that says the same as the arguments. */
export const overHttp = (operation: Operation.Any, args: Arguments) => {
  const path = operation.path.replaceAll(/:(\w+)/g, (_, name: string) => String(args[name]))
  const rest = Object.entries(args).filter(([name]) => !Object.hasOwn(operation.params, name))
  const inQuery = Object.keys(operation.body).length === 0
  const query = new URLSearchParams(inQuery ? rest.map(([name, value]): [string, string] => [name, String(value)]) : [])
    .toString()
  return {
    path: query === "" ? path : `${path}?${query}`,
    ...(inQuery ? {} : { body: Object.fromEntries(rest) })
  }
}

/** What code inside the service is answered: the transport that embedding takes. */
export const embedded = Effect.fnUntraced(
  function*(operation: Operation.Any, args: Arguments, key: World.Asking["key"] & {}) {
    const token = typeof key === "string" ? Redacted.make(key) : key
    return yield* (yield* Credentials).authenticate(token, `${World.baseUrl}/v1`).pipe(
      Effect.flatMap((caller) =>
        Effect.provideService(operation.call(args) as Effect.Effect<unknown, Failure.Failure, any>, Caller, {
          ...caller,
          via: "embedded",
          ip: null,
          requestId: null,
          ...(operation.kind === "unlocked" || operation.kind === "rewrite"
            ? { extras: { archivePassword: Redacted.make(archivePassword) } }
            : {})
        })
      ),
      Effect.match({
        onSuccess: (answer) => JSON.parse(JSON.stringify(answer)),
        onFailure: ({ _tag, message, param }) => ({ code: _tag, message, ...(param === undefined ? {} : { param }) })
      })
    )
  }
)
