/** Refusals of what opens the archive. */
import { failure } from "../FailureBase.ts"

export class ArchivePasswordRequired extends failure<ArchivePasswordRequired>()(
  403,
  "archive_password_required",
  "The archive is sealed: send its password in the header Archive-Password, as the base64url of its UTF-8. The command mcp takes it from CONSOLE_ARCHIVE_PASSWORD."
) {}

export class ArchivePasswordInvalid extends failure<ArchivePasswordInvalid>()(
  403,
  "archive_password_invalid",
  "This is not the organization's archive password. The header Archive-Password holds the base64url of its UTF-8."
) {}

/** The connection opens the archive on its user's machine: the service never opens anything for it. */
export class BridgeRequired extends failure<BridgeRequired>()(
  403,
  "bridge_required",
  "This connection opens the archive on its user's own machine: read it through the bridge."
) {}

/** The answer is sealed: it is for callers who open it on their own machine. */
export class LocalModeRequired extends failure<LocalModeRequired>()(
  403,
  "local_mode_required",
  "Sealed data is for connections that open the archive on their user's own machine, and for the console itself."
) {}

export class NoArchiveKey extends failure<NoArchiveKey>()(
  409,
  "no_archive_key",
  "The organization has no archive password yet: its owner sets one on a page of the console."
) {}

/** The file's content is not archived, or not any more. */
export class FileNotSaved extends failure<FileNotSaved>()(
  409,
  "file_not_saved",
  "The content of this file is not archived: state says why."
) {}

export class ConfirmPhraseInvalid extends failure<ConfirmPhraseInvalid>()(
  400,
  "confirm_phrase_invalid",
  "Nothing was deleted: this is not the phrase that confirms it. The person who deletes has to type it."
) {}

export class NotOffboarded
  extends failure<NotOffboarded>()(409, "not_offboarded", "The account is still protected: offboard it first.")
{}

/** The holder would be locked out: nobody could tell them the password any more. */
export class TwoFaNotReleased extends failure<TwoFaNotReleased>()(
  409,
  "two_fa_not_released",
  "The service still holds the account's 2FA password, and nobody has looked it up for the holder."
) {}

export class ArchiveHeld
  extends failure<ArchiveHeld>()(409, "archive_held", "A legal hold keeps the archive: nothing of it is deleted.")
{}

export class ArchiveEmpty
  extends failure<ArchiveEmpty>()(409, "archive_empty", "Nothing is archived of what was named.")
{}

/** The archive is closed, is being deleted, or was. */
export class ArchiveClosed extends failure<ArchiveClosed>()(
  409,
  "archive_closed",
  "The organization's archive is closed: nothing of it can be read."
) {}

export class RuleExists extends failure<RuleExists>()(
  409,
  "rule_exists",
  "There is a rule for these accounts and chats already: change that one."
) {}

export class NoArchivePlan
  extends failure<NoArchivePlan>()(409, "no_archive_plan", "The plan or the account's licence has no archive.")
{}

export class ArchiveReadonly
  extends failure<ArchiveReadonly>()(409, "archive_readonly", "Nothing is added to the organization's archive now.")
{}

export class StorageFull extends failure<StorageFull>()(
  409,
  "storage_full",
  "The organization's storage limit is reached: nothing more is archived."
) {}

/** The hold was released already. */
export class NotHeld extends failure<NotHeld>()(409, "not_held", "The hold is released already.") {}

/** The cleanup is past its confirmation. */
export class NotPreviewed
  extends failure<NotPreviewed>()(409, "not_previewed", "The cleanup has ended: preview it anew.")
{}

export class CleanupExpired extends failure<CleanupExpired>()(
  409,
  "cleanup_expired",
  "The preview is older than 15 minutes: preview the cleanup anew."
) {}

/** The cleanup has ended by itself. */
export class NotRunning
  extends failure<NotRunning>()(409, "not_running", "The cleanup has ended: there is nothing to cancel.")
{}

export class TooManyExports extends failure<TooManyExports>()(
  409,
  "too_many_exports",
  "There are as many exports as can be downloaded at a time: 50 of one admin, 200 of the organization. Each ends 7 days after it was made."
) {}

export class ExportExpired extends failure<ExportExpired>()(
  409,
  "export_expired",
  "The export is older than 7 days: make it again."
) {}
