/** The archive as it is stored, as its readers are answered who open it themselves. */
import { Schema } from "effect"
import { AccountId } from "../accounts/Account.ts"
import { Count, described, Kind, OptionalTimestamp, Timestamp, Uuid } from "../JsonShapes.ts"
import { ChatEffect, ChatType } from "./Chat.ts"
import { ArchiveKeyId, FrameKind } from "./Epoch.ts"
import { FileReason } from "./FileReason.ts"
import { Argon2Parameters } from "./KeyDerivation.ts"
import { FileId, FileState } from "./Message.ts"
import { MessageId, PlatformId } from "./PlatformId.ts"
import { DeletionReason } from "./Records.ts"

/** The number of a page, a row of the tail, a block or an epoch: 64 bits, therefore decimal text. */
const StoredNumber = MessageId

const base64 = (description: string) => described(Schema.String, `${description} In base64.`)

const Day = described(Schema.String, "The UTC day that its frames are bound to.")
const number = described(StoredNumber, "The page or row of the tail.")
const chat_id = described(PlatformId, "The chat.")
const account_id = described(AccountId, "The account.")

const Frames = Schema.Struct({
  account_id,
  number,
  day: Day,
  sealed: base64("Its frames.")
})

const State = Schema.Struct({
  account_id,
  chat_id,
  message_id: described(MessageId, "The message."),
  edit_dates: described(
    Schema.Array(Count),
    "The messenger's times of its edits in Unix seconds, ascending: of the oldest 1000."
  ),
  edits: described(Schema.optionalKey(Count), "How many edits it has, where there are more."),
  deleted_at: described(OptionalTimestamp, "When its deletion was noticed."),
  deleted_reason: described(Schema.NullOr(DeletionReason), "By what that was noticed."),
  newest: described(Schema.NullOr(StoredNumber), "Which of `frames` holds its newest edit.")
})

const File = Schema.Struct({
  account_id,
  chat_id,
  message_id: described(MessageId, "The message that it was sent with."),
  file: described(Schema.String, "The file."),
  state: described(FileState, "Whether its content is archived."),
  reason: described(Schema.NullOr(FileReason), "Why it is not."),
  sha256: described(Schema.NullOr(Schema.String), "SHA-256 of its content in base64."),
  at: described(Timestamp, "When that was last changed.")
})

const Epoch = Schema.Struct({
  account_id,
  epoch_id: described(StoredNumber, "As frames name it."),
  key_id: described(ArchiveKeyId, "The archive key that it is sealed to."),
  sealed_key: described(Schema.NullOr(Schema.String), "The sealed key in base64; null once it is shredded.")
})

/** Members that both lists have: what belongs to the pages in them. */
const attached = {
  states: described(Schema.Array(State), "Messages that were edited or deleted."),
  files: described(Schema.Array(File), "Files of messages."),
  frames: described(Schema.Array(Frames), "Frames of changes, each once."),
  epochs: described(Schema.Array(Epoch), "The keys of all frames and vocabularies in this answer."),
  stated: described(
    Count,
    "For how many of the pages with frames, from the first on, states and files are complete here; or of the messages."
  ),
  has_more: described(Schema.Boolean, "Whether the answer was cut: ask for the rest.")
}

const StoredMessages = Schema.Struct({
  chat_id,
  number,
  day: Day,
  last_id: described(MessageId, "The highest message id."),
  ids: base64("Its message ids, ascending, as varints of differences."),
  sealed: base64("Its frames.")
})

const StoredChat = Schema.Struct({
  chat_id,
  type: described(ChatType, "What kind of chat it is."),
  effect: described(ChatEffect, "What the rules say."),
  complete: described(Schema.Boolean, "Whether it is archived from its beginning."),
  messages: described(Count, "Messages that are archived."),
  files: described(Count, "Files that are archived."),
  first_at: described(OptionalTimestamp, "When the oldest message was sent."),
  last_at: described(OptionalTimestamp, "When the newest message was sent."),
  left_at: described(OptionalTimestamp, "Since when the account is no longer in it."),
  complete_back_to: described(OptionalTimestamp, "Everything since then is archived without a gap."),
  protected: described(Schema.Boolean, "Whether the messenger asks its clients not to save from it."),
  migrated_to: described(Schema.NullOr(PlatformId), "The chat that continues it."),
  info: described(Schema.NullOr(Frames), "The page with its title.")
})

export const SealedPageList = Schema.Struct({
  object: Kind("sealed_pages"),
  messages: described(Schema.Array(StoredMessages), "Pages of messages, and rows of the tail as pages of one."),
  edits: described(Schema.Array(StoredNumber), "Which of `frames` holds each edit of the message, oldest first."),
  chats: described(Schema.NullOr(Schema.Array(StoredChat)), "Chats; null where there is none to start after."),
  members: described(Schema.NullOr(Frames), "The page with the chat's members."),
  known_chats: described(Count, "How many of the chats the account has."),
  ...attached
}).annotate({ identifier: "sealed_page_list" })
export type SealedPageList = typeof SealedPageList.Type

const Block = Schema.Struct({
  account_id,
  block_id: described(StoredNumber, "The vocabulary."),
  first_at: described(Timestamp, "No message of its pages was sent before."),
  last_at: described(Timestamp, "No message of its pages was sent after."),
  epoch_id: described(StoredNumber, "The epoch that it is sealed under."),
  fold: described(Count, "The folding of its words."),
  pages: described(
    Schema.String.check(Schema.isPattern(/^(?:\d{1,19}(?:,\d{1,19})*)?$/)),
    "The numbers of its pages, in the order of its postings, with commas between them; empty where it is known."
  ),
  sealed: described(Schema.NullOr(Schema.String), "Its words in base64; null where it is known.")
})

const SearchedPage = Schema.Struct({
  account_id,
  chat_id,
  number,
  day: Day,
  kind: described(FrameKind, "What its frames hold: messages or changes."),
  first_at: described(Timestamp, "No message in it was sent before."),
  last_at: described(Timestamp, "No message in it was sent after."),
  messages: described(Count, "Messages in it."),
  shared: described(Schema.Boolean, "Whether other accounts may have the same messages."),
  ids: described(Schema.NullOr(Schema.String), "Its message ids as above, where its frames are here."),
  sealed: described(Schema.NullOr(Schema.String), "Its frames in base64, where they are here.")
})

export const SealedBlockList = Schema.Struct({
  object: Kind("sealed_blocks"),
  stamp: described(Schema.String, "Another text once a block of the accounts was added or dropped."),
  loose_stamp: described(Schema.String, "Another text once a page of the accounts without a vocabulary was added."),
  blocks: described(Schema.Array(Block), "Vocabularies, the newest first."),
  pages: described(Schema.Array(SearchedPage), "Pages, the newest first where they are listed."),
  ...attached
}).annotate({ identifier: "sealed_block_list" })
export type SealedBlockList = typeof SealedBlockList.Type

const StoredContent = Schema.Struct({
  blob_id: described(Uuid, "The content, which its chunks are bound to."),
  epoch_id: described(StoredNumber, "The epoch that its key is sealed under."),
  key: base64("Its sealed key."),
  bytes: described(Count, "The size of what it holds; download_sealed_file answers it sealed, in chunks."),
  sha256: base64("SHA-256 of what it holds.")
})

const SealedFile = Schema.Struct({
  file: described(FileId, "The file."),
  account_id,
  chat_id,
  message_id: described(MessageId, "The message that it was sent with."),
  day: described(Schema.String, "The UTC day of the message."),
  state: described(FileState, "Whether its content is archived."),
  reason: described(Schema.NullOr(FileReason), "Why it is not."),
  at: described(Timestamp, "When that was last changed."),
  content: described(Schema.NullOr(StoredContent), "Its content; null unless it is saved.")
}).annotate({ identifier: "sealed_file" })

const FilePage = Schema.Struct({ ...Frames.fields, chat_id })

export const SealedFileList = Schema.Struct({
  object: Kind("sealed_files"),
  files: described(Schema.NullOr(Schema.Array(SealedFile)), "Files; null where there is none to start after."),
  pages: described(Schema.Array(FilePage), "Pages of messages, each once, in the order of their numbers."),
  epochs: described(Schema.Array(Epoch), "The keys of all contents and pages in this answer."),
  has_more: described(Schema.Boolean, "Whether the answer was cut: ask for the rest.")
}).annotate({ identifier: "sealed_file_list" })
export type SealedFileList = typeof SealedFileList.Type

const { lanes, memory_kib, name, passes, salt } = Argon2Parameters.fields

const KeyDerivationShown = Schema.Struct({
  name: described(name, "Argon2id, version 0x13, to 64 bytes: the key that wraps, and the key of the proof."),
  memory_kib: described(memory_kib, "Memory in KiB."),
  passes: described(passes, "Passes over it."),
  lanes: described(lanes, "Lanes of it."),
  salt: described(salt, "The salt in hexadecimal digits.")
})

/** The key pair of the archive, and its private half as the password wraps it. */
export const ArchiveKeyList = Schema.Struct({
  object: Kind("archive_keys"),
  organization_id: described(Schema.String, "What keys are bound to."),
  current_key_id: described(ArchiveKeyId, "The key pair that new epochs are sealed to."),
  keys: described(
    Schema.Array(Schema.Struct({
      key_id: described(ArchiveKeyId, "The key pair."),
      suite: described(Count, "The suite of its constructions."),
      public_key: base64("Its public half."),
      wrapped_private_key: described(
        Schema.Struct({
          nonce: base64("12 bytes."),
          sealed: base64("48 bytes."),
          proof: base64("32 bytes that commit it to one password.")
        }),
        "Its private half, sealed under the password."
      ),
      kdf: described(KeyDerivationShown, "The derivation of the password's key."),
      made_at: described(Timestamp, "When it was made."),
      password_set_at: described(Timestamp, "When its password was last set.")
    })),
    "The key pairs that can be opened: the current one first, then those that it replaced, the newest first and at most 3."
  )
}).annotate({ identifier: "archive_key_list" })
