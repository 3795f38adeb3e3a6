/** The sessions of an account, and those that ended (specification, sections 2.4 and 2.5). */
import { Schema } from "effect"
import { described, Kind, OptionalTimestamp, Timestamp } from "../JsonShapes.ts"
import { canSignOut } from "../protection/Deadline.ts"

const NullableText = Schema.NullOr(Schema.String)

export const Session = Schema.Struct({
  object: Kind("session"),
  id: described(Schema.String, "The messenger's id of the authorization."),
  current: described(Schema.Boolean, "Whether it is the session that the service monitors through."),
  service_session: described(
    Schema.Boolean,
    "Whether it is one of the service's own, which is neither approved nor signed out."
  ),
  device_model: described(NullableText, "The device."),
  platform: described(NullableText, "The operating system."),
  app_name: described(NullableText, "The application."),
  app_version: described(NullableText, "The application's version."),
  ip: described(NullableText, "The last address that the messenger saw."),
  country: described(NullableText, "The country of that address."),
  last_active_at: described(OptionalTimestamp, "When the session was last used."),
  created_at: described(OptionalTimestamp, "When the session was signed in."),
  approved: described(Schema.Boolean, "Whether an admin approved it."),
  review_deadline: described(
    OptionalTimestamp,
    "When the session is signed out unless it is approved; null where nothing is due."
  ),
  sign_out_queued: described(Schema.Boolean, "Whether signing it out is under way."),
  can_sign_out: described(
    Schema.Boolean,
    "Whether the messenger lets the service sign sessions out yet: 24 hours after connecting."
  )
}).annotate({ identifier: "session" })
export type Session = typeof Session.Type

export const Termination = Schema.Struct({
  session_id: described(Schema.String, "The id of the session that ended."),
  device_label: described(NullableText, "The device and the application, as one text."),
  detected_at: described(Timestamp, "When the service saw that it had ended."),
  actor: described(
    Schema.Literals(["service", "external", "unknown"]),
    "Who ended it: the service, someone on the messenger, or `unknown`."
  ),
  reason: described(
    Schema.NullOr(Schema.Literals(["rejected", "autokill", "hijacked"])),
    "Why the service ended it: `rejected` by an admin, `autokill` at its deadline, `hijacked` in a takeover; else null."
  )
}).annotate({ identifier: "termination" })
export type Termination = typeof Termination.Type

export interface SessionFacts
  extends Omit<Session, "approved" | "can_sign_out" | "object" | "service_session" | "sign_out_queued">
{
  readonly service: boolean
  readonly baseline: boolean
  readonly approved_at: Date | null
  readonly queued_at: Date | null
  readonly seen_at: Date
}

/** A session as the API shows it; from `enforcementActiveAt` on the platform lets the service sign sessions out. */
export const session = (facts: SessionFacts, enforcementActiveAt: Date | null, now: Date): Session => ({
  object: "session",
  id: facts.id,
  current: facts.current,
  service_session: facts.service,
  device_model: facts.device_model,
  platform: facts.platform,
  app_name: facts.app_name,
  app_version: facts.app_version,
  ip: facts.ip,
  country: facts.country,
  last_active_at: facts.last_active_at,
  created_at: facts.created_at,
  approved: facts.approved_at !== null,
  review_deadline: facts.review_deadline,
  sign_out_queued: facts.queued_at !== null,
  can_sign_out: canSignOut(enforcementActiveAt, now)
})
