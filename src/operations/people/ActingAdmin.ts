/** The acting admin and the target, as they are under the lock, and the refusals between them. */
import { Effect } from "effect"
import { accessExceeded, beyondLimit } from "../../domain/credentials/GrantingLimits.ts"
import { ResourceMissing, SuperadminRequired, TooManyAttempts } from "../../domain/Failure.ts"
import { type Caller, isNarrowing } from "../../domain/people/Access.ts"
import type { Role } from "../../domain/people/Access.ts"
import { admin } from "../../domain/people/Admin.ts"
import { administers, type WantedAccess } from "../../domain/people/AdminRules.ts"
import { ManagedAdmins } from "../../ports/people/ManagedAdmins.ts"

/** The caller's admin, held; refused where it administers the organization no more. */
export const acting = Effect.fnUntraced(function*(caller: Caller["Service"], ...others: ReadonlyArray<string>) {
  const found = yield* (yield* ManagedAdmins).lock(caller.organizationId, [caller.adminId, ...others])
  const own = found.find(({ id }) => id === caller.adminId)
  if (own === undefined || !administers(own)) return yield* new SuperadminRequired({})
  return { acting: own, found }
})

/** The caller's admin and the other, both held. */
export const actingOn = Effect.fnUntraced(function*(caller: Caller["Service"], id: string) {
  const { acting: own, found } = yield* acting(caller, id)
  const target = found.find((one) => one.id === id)
  if (target === undefined) return yield* new ResourceMissing({ param: "admin_id" })
  return { acting: own, target }
})

/** Fails where a limited caller would hand out what the admin can access in the role. */
export const withinLimit = Effect.fnUntraced(function*(caller: Caller["Service"], id: string, role: Role) {
  const beyond = yield* (yield* ManagedAdmins).isGrantedBeyond(caller, id)
  const exceeded = accessExceeded(caller, { role, beyond })
  if (exceeded !== null) return yield* exceeded
})

/**
 * Fails where the caller cannot access what is wanted: beyond a limit that is refused, otherwise the answer is that it
 * does not exist.
 */
export const requireAccess = Effect.fnUntraced(function*(caller: Caller["Service"], wanted: WantedAccess) {
  const param = yield* (yield* ManagedAdmins).inaccessible(caller, wanted)
  if (param === null) return
  return yield* isNarrowing(caller.limit)
    ? beyondLimit(param)
    : new ResourceMissing({ param })
})

/** Counts a mail of an invitation to the address; fails where too many went there. */
export const countInvitation = Effect.fnUntraced(function*(caller: Caller["Service"], email: string, now: Date) {
  const wait = yield* (yield* ManagedAdmins).countInvitation(caller.organizationId, email, now)
  if (wait !== null) {
    return yield* new TooManyAttempts({
      message: "Too many invitations went out within a day. Try again later.",
      retry_after: wait
    })
  }
})

/** The admin as the caller sees them after the change. */
export const shown = Effect.fnUntraced(function*(caller: Caller["Service"], id: string, now: Date) {
  const found = yield* (yield* ManagedAdmins).find(caller, id, now)
  return found === null ? yield* Effect.die(new Error("An admin who is locked is gone")) : admin(found, caller)
})
