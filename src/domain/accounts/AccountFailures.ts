/** Refusals by the state of an account. */
import { Schema } from "effect"
import { fields } from "../FailureBase.ts"

export class NotActive
  extends Schema.TaggedError<NotActive>()("not_active", fields("The account is paused or offboarded."))
{
  static readonly status = 409
}

export class AlreadyOffboarded extends Schema.TaggedError<AlreadyOffboarded>()(
  "already_offboarded",
  fields("The account is offboarded already.")
) {
  static readonly status = 409
}

export class NotPaused extends Schema.TaggedError<NotPaused>()("not_paused", fields("The account is not paused.")) {
  static readonly status = 409
}

export class NotLocked extends Schema.TaggedError<NotLocked>()(
  "not_locked",
  fields("No takeover lock is on the account.")
) {
  static readonly status = 409
}

export class ServiceSession extends Schema.TaggedError<ServiceSession>()(
  "service_session",
  fields("The session is one of the service's own: it is neither approved nor signed out.")
) {
  static readonly status = 409
}
