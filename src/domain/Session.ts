/** The sessions of an account, and those that ended (specification, sections 2.4 and 2.5). */
import { Schema } from "effect"
import { Timestamp } from "./Wire.ts"

const Told = Schema.NullOr(Schema.String)
const Moment = Schema.NullOr(Timestamp)

export const Session = Schema.Struct({
  object: Schema.Literal("session"),
  id: Schema.String.annotate({ description: "The messenger's id of the authorization." }),
  current: Schema.Boolean,
  service_session: Schema.Boolean,
  device_model: Told,
  platform: Told,
  app_name: Told,
  app_version: Told,
  ip: Told,
  country: Told,
  last_active_at: Moment,
  created_at: Moment,
  approved: Schema.Boolean,
  review_deadline: Moment,
  sign_out_queued: Schema.Boolean,
  can_sign_out: Schema.Boolean
}).annotate({ identifier: "session" })
export type Session = typeof Session.Type

export const Termination = Schema.Struct({
  session_id: Schema.String,
  device_label: Told,
  detected_at: Timestamp,
  actor: Schema.Literals(["service", "external", "unknown"]),
  reason: Schema.NullOr(Schema.Literals(["rejected", "autokill", "hijacked"]))
}).annotate({ identifier: "termination" })
export type Termination = typeof Termination.Type

/** What is stored about one session of an account. */
export interface SessionFacts {
  readonly id: string
  readonly service: boolean
  readonly current: boolean
  readonly baseline: boolean
  readonly approved_at: Date | null
  readonly review_deadline: Date | null
  readonly queued_at: Date | null
  readonly device_model: string | null
  readonly platform: string | null
  readonly app_name: string | null
  readonly app_version: string | null
  readonly ip: string | null
  readonly country: string | null
  readonly last_active_at: Date | null
  readonly created_at: Date | null
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
  can_sign_out: enforcementActiveAt !== null && now.getTime() >= enforcementActiveAt.getTime()
})
