/** Refusals of what opens the archive. */
import { Schema } from "effect"
import { fields } from "../FailureBase.ts"

export class ArchivePasswordRequired extends Schema.TaggedError<ArchivePasswordRequired>()(
  "archive_password_required",
  fields("The archive is sealed: send its password in the header Archive-Password, as the base64url of its UTF-8.")
) {
  static readonly status = 403
}

export class ArchivePasswordInvalid extends Schema.TaggedError<ArchivePasswordInvalid>()(
  "archive_password_invalid",
  fields(
    "This is not the organization's archive password. The header Archive-Password holds the base64url of its UTF-8."
  )
) {
  static readonly status = 403
}

/** The connection opens the archive on its user's machine: the service never opens anything for it. */
export class BridgeRequired extends Schema.TaggedError<BridgeRequired>()(
  "bridge_required",
  fields("This connection opens the archive on its user's own machine: read it through the bridge.")
) {
  static readonly status = 403
}

/** The answer is sealed: it is for callers who open it on their own machine. */
export class LocalModeRequired extends Schema.TaggedError<LocalModeRequired>()(
  "local_mode_required",
  fields(
    "Sealed data is for connections that open the archive on their user's own machine, and for the console itself."
  )
) {
  static readonly status = 403
}

export class NoArchiveKey extends Schema.TaggedError<NoArchiveKey>()(
  "no_archive_key",
  fields("The organization has no archive password yet: its owner sets one on a page of the console.")
) {
  static readonly status = 409
}

export class ConfirmPhraseInvalid extends Schema.TaggedError<ConfirmPhraseInvalid>()(
  "confirm_phrase_invalid",
  fields("Nothing was deleted: this is not the phrase that confirms it. The person who deletes has to type it.")
) {
  static readonly status = 400
}

export class NotOffboarded extends Schema.TaggedError<NotOffboarded>()(
  "not_offboarded",
  fields("The account is still protected: offboard it first.")
) {
  static readonly status = 409
}

/** The holder would be locked out: nobody could tell them the password any more. */
export class TwoFaNotReleased extends Schema.TaggedError<TwoFaNotReleased>()(
  "two_fa_not_released",
  fields("The service still holds the account's 2FA password, and nobody has looked it up for the holder.")
) {
  static readonly status = 409
}

export class ArchiveHeld extends Schema.TaggedError<ArchiveHeld>()(
  "archive_held",
  fields("A legal hold keeps the archive: nothing of it is deleted.")
) {
  static readonly status = 409
}

export class ArchiveEmpty extends Schema.TaggedError<ArchiveEmpty>()(
  "archive_empty",
  fields("Nothing is archived of what was named.")
) {
  static readonly status = 409
}

/** The archive is closed, is being deleted, or was. */
export class ArchiveClosed extends Schema.TaggedError<ArchiveClosed>()(
  "archive_closed",
  fields("The organization's archive is closed: nothing of it can be read.")
) {
  static readonly status = 409
}

export class RuleExists extends Schema.TaggedError<RuleExists>()(
  "rule_exists",
  fields("There is a rule for these accounts and chats already: change that one.")
) {
  static readonly status = 409
}

export class NoArchivePlan extends Schema.TaggedError<NoArchivePlan>()(
  "no_archive_plan",
  fields("The plan or the account's licence has no archive.")
) {
  static readonly status = 409
}

export class ArchiveReadonly extends Schema.TaggedError<ArchiveReadonly>()(
  "archive_readonly",
  fields("Nothing is added to the organization's archive now.")
) {
  static readonly status = 409
}

export class StorageFull extends Schema.TaggedError<StorageFull>()(
  "storage_full",
  fields("The organization's storage limit is reached: nothing more is archived.")
) {
  static readonly status = 409
}

/** The hold was released already. */
export class NotHeld extends Schema.TaggedError<NotHeld>()(
  "not_held",
  fields("The hold is released already.")
) {
  static readonly status = 409
}

/** The cleanup is past its confirmation. */
export class NotPreviewed extends Schema.TaggedError<NotPreviewed>()(
  "not_previewed",
  fields("The cleanup has ended: preview it anew.")
) {
  static readonly status = 409
}

export class CleanupExpired extends Schema.TaggedError<CleanupExpired>()(
  "cleanup_expired",
  fields("The preview is older than 15 minutes: preview the cleanup anew.")
) {
  static readonly status = 409
}

/** The cleanup has ended by itself. */
export class NotRunning extends Schema.TaggedError<NotRunning>()(
  "not_running",
  fields("The cleanup has ended: there is nothing to cancel.")
) {
  static readonly status = 409
}

export class TooManyExports extends Schema.TaggedError<TooManyExports>()(
  "too_many_exports",
  fields(
    "There are as many exports as can be downloaded at a time: 50 of one admin, 200 of the organization. Each ends 7 days after it was made."
  )
) {
  static readonly status = 409
}
