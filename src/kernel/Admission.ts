/** What is checked of every request before its input is looked at: 429, then 403 for scope, organization, role and limit. */
import { Effect } from "effect"
import { Caller, type Role, type Scope } from "../domain/Access.ts"
import * as Failure from "../domain/Failure.ts"
import { RateLimiter, type RateState } from "../ports/RateLimits.ts"
import type { AdmissionFailure, Refusal } from "./Refusals.ts"

/** Who may call an operation. */
export interface Admitted {
  readonly scope: Scope
  readonly roles: ReadonlyArray<Role>
  readonly refusal: Refusal
  readonly whole: boolean
}

const limited =
  "This concerns the whole organization: a connection that is limited to accounts or departments may not do it."

/** Counts the request and checks scope, organization, role and limit, in this order. */
export const admission = (
  { refusal, roles, scope, whole }: Admitted
): Effect.Effect<RateState, AdmissionFailure, Caller | RateLimiter> =>
  Effect.gen(function*() {
    const caller = yield* Caller
    const limiter = yield* RateLimiter
    const rate = yield* caller.arrival?.admitted ?? limiter.consume(caller.credential.id)
    if (!caller.scopes.includes(scope)) {
      return yield* new Failure.InsufficientScope({ scope, message: `This operation needs the scope ${scope}.` })
    }
    if (caller.organizationClosed) return yield* new Failure.OrganizationClosed({})
    if (!roles.includes(caller.role)) return yield* new refusal({})
    if (whole && caller.limit !== null) return yield* new Failure.RoleForbidden({ message: limited })
    return rate
  })
