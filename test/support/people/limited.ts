/** Callers by an application that is limited to accounts or departments. */
import { Effect, Redacted } from "effect"
import * as crypto from "node:crypto"
import type { Failure } from "../../../src/domain/Failure.ts"
import { Caller, Scope } from "../../../src/domain/people/Access.ts"
import type * as Operation from "../../../src/kernel/Operation.ts"
import { Credentials } from "../../../src/ports/credentials/Credentials.ts"
import { operations } from "../../added/index.ts"
import * as World from "../world.ts"

export type Limit = { readonly accounts: ReadonlyArray<string> } | { readonly departments: ReadonlyArray<string> }

/** What an operation was answered, or the code that it failed with. */
export type Answered = { readonly code: string; readonly param: string | undefined; readonly body?: undefined } | {
  readonly code: "done"
  readonly body: any
}

/** Makes a connection of the person with the limit; answers what calls an operation through it. */
export const connect = Effect.fnUntraced(function*(organizationId: string, person: World.Person, limit: Limit) {
  const id = crypto.randomUUID()
  const [kind, ids] = "accounts" in limit
    ? ["account", limit.accounts] as const
    : ["department", limit.departments] as const
  yield* World.addRows("ai_connection", organizationId, [{
    id,
    admin_id: person.id,
    kind: "token",
    label: "Limited",
    mode: "cloud",
    scopes: Scope.literals,
    scope_type: `${kind}s`,
    created_at: new Date(0)
  }])
  yield* World.addRows(
    `ai_connection_${kind}`,
    organizationId,
    ids.map((chosen, place) => ({ connection_id: id, [`${kind}_id`]: chosen, place }))
  )
  const call = (operationId: typeof operations[number]["id"], input: object) =>
    Effect.gen(function*() {
      const known = yield* (yield* Credentials).authenticate(
        typeof person.key === "string" ? Redacted.make(person.key) : person.key,
        `${World.baseUrl}/v1`
      )
      const operation: Operation.Any = operations.find((one) => one.id === operationId)!
      return yield* (operation.call(input) as Effect.Effect<unknown, Failure, any>).pipe(
        Effect.provideService(Caller, {
          ...known,
          limit: { scopeType: `${kind}s`, connectionId: id },
          via: "embedded",
          ip: null,
          requestId: null
        }),
        Effect.match({
          onSuccess: (body): Answered => ({ code: "done", body }),
          onFailure: ({ _tag, param }): Answered => ({ code: _tag, param })
        })
      )
    })
  return { id, call }
})
