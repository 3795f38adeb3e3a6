/** Runs operations in the process that watches their account, where this one does not. */
import { Clock, Duration, Effect, Layer, Schema, Struct } from "effect"
import { SqlClient } from "effect/sql"
import { AccountId } from "../../domain/accounts/Account.ts"
import { slotOf } from "../../domain/accounts/Slot.ts"
import { MessengerUnavailable } from "../../domain/messenger/MessengerFailures.ts"
import { CredentialKind, OrganizationId, Role, Scope, Via } from "../../domain/people/Access.ts"
import { Elsewhere, type ForwardedRequest } from "../../ports/messenger/Elsewhere.ts"
import { Ownership } from "../../ports/messenger/Ownership.ts"
import { Peppers } from "../crypto/Peppers.ts"
import * as Peers from "./Peers.ts"
import { Seals } from "./Sealed.ts"

/** The caller, without what only the process that admitted the request can use. */
const ForwardedCaller = Schema.Struct({
  organizationId: OrganizationId,
  organizationClosed: Schema.Boolean,
  adminId: Schema.String,
  adminName: Schema.NullOr(Schema.String),
  role: Role,
  readsArchive: Schema.Boolean,
  scopes: Schema.Array(Scope),
  limit: Schema.NullOr(Schema.Struct({
    scopeType: Schema.Literals(["all", "accounts", "departments"]),
    connectionId: Schema.String,
    local: Schema.optionalKey(Schema.Boolean)
  })),
  credential: Schema.Struct({ kind: CredentialKind, id: Schema.String, label: Schema.String }),
  via: Via,
  ip: Schema.NullOr(Schema.String),
  requestId: Schema.NullOr(Schema.String),
  extras: Schema.Struct({ idempotencyKey: Schema.optionalKey(Schema.String) })
})

/** A request to run an operation; not later than `until`, because by then its caller was given another answer. */
export const Perform = Schema.Struct({
  operation: Schema.String,
  accountId: AccountId,
  caller: ForwardedCaller,
  input: Schema.Unknown,
  until: Schema.Number
})
export type Perform = typeof Perform.Type

/** The end of the operation, or that it has not begun. */
export const Performed = Schema.Union([
  Schema.TaggedStruct("NotBegun", {}),
  Schema.TaggedStruct("Answered", { text: Schema.String, replayed: Schema.Boolean }),
  Schema.TaggedStruct("Failed", { code: Schema.String, members: Schema.Record(Schema.String, Schema.Unknown) }),
  Schema.TaggedStruct("Died", {})
])
export type Performed = typeof Performed.Type

const isPerformed = Schema.is(Performed)

/** The time between two attempts to find the process that has the slot. */
const betweenAttempts = Duration.millis(100)

const messageOf = ({ accountId, caller, input, operation }: ForwardedRequest, until: number): Perform => {
  const key = caller.extras?.idempotencyKey
  return {
    operation,
    accountId,
    caller: {
      ...Struct.omit(caller, ["arrival", "extras", "storedUnlock"]),
      extras: key === undefined ? {} : { idempotencyKey: key }
    },
    input,
    until
  }
}

const unavailable = Effect.fail(new MessengerUnavailable({ retry_after: 2 }))

/** Forwards over the leases in the database; `lease` is the time that they last. */
export const layer = (lease: Duration.Input) =>
  Layer.effect(
    Elsewhere,
    Effect.gen(function*() {
      const ownership = yield* Ownership
      const sql = yield* SqlClient.SqlClient
      const seals = new Seals(yield* Peppers)
      const ownerOf = Peers.findOwner(sql, Duration.fromInputUnsafe(lease))

      return Effect.fnUntraced(function*(request: ForwardedRequest) {
        const slot = slotOf(request.accountId)
        const until = (yield* Clock.currentTimeMillis) + Duration.toMillis(Peers.takenWithin)
        while (ownership.term(slot) === null) {
          const owner = yield* Effect.orElseSucceed(ownerOf(slot), () => null)
          const delivery = owner === null
            ? { _tag: "NotTaken" as const }
            : yield* Peers.send(seals, owner, messageOf(request, until))
          if (delivery._tag === "Unknown") return yield* unavailable
          if (delivery._tag === "Answered") {
            if (!isPerformed(delivery.value)) return yield* unavailable
            if (delivery.value._tag !== "NotBegun") return delivery.value
          }
          if ((yield* Clock.currentTimeMillis) >= until) return null
          yield* Effect.sleep(betweenAttempts)
        }
        return null
      })
    })
  )
