/** Refusals by the state of an account. */
import { failure } from "../FailureBase.ts"

export class NotActive extends failure<NotActive>()(409, "not_active", "The account is paused or offboarded.") {}

export class AlreadyOffboarded
  extends failure<AlreadyOffboarded>()(409, "already_offboarded", "The account is offboarded already.")
{}

export class NotPaused extends failure<NotPaused>()(409, "not_paused", "The account is not paused.") {}

export class NotLocked extends failure<NotLocked>()(409, "not_locked", "No takeover lock is on the account.") {}

export class ServiceSession extends failure<ServiceSession>()(
  409,
  "service_session",
  "The session is one of the service's own: it is neither approved nor signed out."
) {}
