/** Refusals about admins and what they are granted. */
import { failure } from "../FailureBase.ts"

export class AccessNotApplicable
  extends failure<AccessNotApplicable>()(409, "access_not_applicable", "This access cannot be given here.")
{}

export class AdminExists
  extends failure<AdminExists>()(409, "admin_exists", "An admin of the organization has this address.")
{}

export class AdminProtected
  extends failure<AdminProtected>()(409, "admin_protected", "This is not done to the owner, nor to oneself.")
{}

export class NotInvited
  extends failure<NotInvited>()(409, "not_invited", "The admin has joined already, or is disabled.")
{}

export class NotEnabled extends failure<NotEnabled>()(409, "not_enabled", "The admin is disabled already.") {}

export class NotDisabled extends failure<NotDisabled>()(409, "not_disabled", "The admin is not disabled.") {}

export class NotSuperadmin
  extends failure<NotSuperadmin>()(409, "not_superadmin", "The ownership goes to an active superadmin.")
{}
