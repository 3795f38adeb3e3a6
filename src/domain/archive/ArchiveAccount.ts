/** An account as the archive lists it: how much of it is archived. */
import { Schema } from "effect"
import { AccountId, accountName, type MessengerNames } from "../accounts/Account.ts"
import { Count, described, Kind, OptionalTimestamp } from "../JsonShapes.ts"
import { ArchiveSummary } from "./ArchiveSummary.ts"

export const ArchiveAccount = Schema.Struct({
  object: Kind("archive_account"),
  id: described(AccountId, "The account's id: a UUID."),
  name: described(Schema.String, "The messenger name, else the username, else the phone number."),
  phone_number: described(Schema.String, "The phone number as the messenger shows it."),
  chats: described(Count, "Chats of which something is archived."),
  messages: described(Count, "Messages that are archived."),
  files: described(Count, "Files that are archived."),
  first_message_at: described(OptionalTimestamp, "When the oldest archived message was sent."),
  last_message_at: described(OptionalTimestamp, "When the newest archived message was sent."),
  saving: ArchiveSummary.fields.saving
}).annotate({ identifier: "archive_account" })
export type ArchiveAccount = typeof ArchiveAccount.Type

/** The totals of an account's archive over all its chats. */
export interface ArchiveTotals {
  readonly chats: number
  readonly messages: number
  readonly files: number
  readonly firstAt: Date | null
  readonly lastAt: Date | null
}

export const archiveAccount = (
  account: MessengerNames & { readonly id: AccountId; readonly phone_number: string },
  totals: ArchiveTotals | undefined,
  saving: ArchiveSummary["saving"]
): ArchiveAccount => ({
  object: "archive_account",
  id: account.id,
  name: accountName(account),
  phone_number: account.phone_number,
  chats: totals?.chats ?? 0,
  messages: totals?.messages ?? 0,
  files: totals?.files ?? 0,
  first_message_at: totals?.firstAt ?? null,
  last_message_at: totals?.lastAt ?? null,
  saving
})
