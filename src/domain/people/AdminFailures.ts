/** Refusals about admins and what they are granted. */
import { Schema } from "effect"
import { fields } from "../FailureBase.ts"

export class AccessNotApplicable extends Schema.TaggedError<AccessNotApplicable>()(
  "access_not_applicable",
  fields("This access cannot be given here.")
) {
  static readonly status = 409
}

export class AdminExists extends Schema.TaggedError<AdminExists>()(
  "admin_exists",
  fields("An admin of the organization has this address.")
) {
  static readonly status = 409
}

export class AdminProtected extends Schema.TaggedError<AdminProtected>()(
  "admin_protected",
  fields("This is not done to the owner, nor to oneself.")
) {
  static readonly status = 409
}

export class NotInvited extends Schema.TaggedError<NotInvited>()(
  "not_invited",
  fields("The admin has joined already, or is disabled.")
) {
  static readonly status = 409
}

export class NotEnabled extends Schema.TaggedError<NotEnabled>()(
  "not_enabled",
  fields("The admin is disabled already.")
) {
  static readonly status = 409
}

export class NotDisabled extends Schema.TaggedError<NotDisabled>()(
  "not_disabled",
  fields("The admin is not disabled.")
) {
  static readonly status = 409
}

export class NotSuperadmin extends Schema.TaggedError<NotSuperadmin>()(
  "not_superadmin",
  fields("The ownership goes to an active superadmin.")
) {
  static readonly status = 409
}
