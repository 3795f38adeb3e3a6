/** Requests to the support of the service. */
import { Duration, Schema } from "effect"
import { AccountId } from "../accounts/Account.ts"
import { Count, described, Kind, OptionalTimestamp, Timestamp, Uuid } from "../JsonShapes.ts"
import { supportClosedAfter } from "../Limits.ts"

export const SupportCategory = Schema.Literals(["protection", "archive", "billing", "api", "other"])

/** The request that an operation is about, as a member of its path. */
export const TargetSupportRequest = Uuid.annotateKey({ description: "From list_support_requests." })

export const SupportRequest = Schema.Struct({
  object: Kind("support_request"),
  id: described(Uuid, "The request's id: a UUID."),
  number: described(Count, "Its number in the organization, from 1."),
  category: described(SupportCategory, "What it is about."),
  subject: described(Schema.String, "Its subject."),
  message: described(Schema.String, "What was asked."),
  account_id: described(Schema.NullOr(AccountId), "The account that it is about; null for none."),
  related_request_id: described(
    Schema.NullOr(Schema.String),
    "The `Request-Id` of an answer that it is about, or null."
  ),
  state: described(
    Schema.Literals(["open", "answered", "closed"]),
    "`open` until it is answered; `closed` by the support, or 30 days after the answer."
  ),
  answer: described(Schema.NullOr(Schema.String), "The support's answer; null before it."),
  answered_at: described(OptionalTimestamp, "When it was answered; null before that."),
  created_by: described(Uuid, "The id of the admin who asked: a UUID."),
  created_at: described(Timestamp, "When it was asked."),
  updated_at: described(Timestamp, "When it was asked, answered or closed last.")
}).annotate({ identifier: "support_request" })
export type SupportRequest = typeof SupportRequest.Type

/** The stored facts of a request. */
export type SupportFacts = Omit<SupportRequest, "object">

/** The request at `now`: an answer without a reply closes it. */
export const supportRequest = (facts: SupportFacts, now: Date): SupportRequest => {
  const closed = facts.state === "answered" && facts.answered_at !== null &&
    now.getTime() >= facts.answered_at.getTime() + Duration.toMillis(supportClosedAfter)
  return { object: "support_request", ...facts, state: closed ? "closed" : facts.state }
}
