/** Requests of the archive as it is stored, by readers who open it themselves. */
import { Schema } from "effect"
import { AccountId } from "../accounts/Account.ts"
import { CalendarDay, DateTime, described } from "../JsonShapes.ts"
import {
  sealedBlocksNamed,
  sealedBlocksPerAnswer,
  sealedNumbersLength,
  sealedPagesListed,
  sealedRowsPerAnswer
} from "../Limits.ts"
import { ChatType } from "./Chat.ts"
import { FileId, FileState } from "./Message.ts"
import { MessageId, PlatformId } from "./PlatformId.ts"

/** The number of a page, a row of the tail, a block or an epoch: 64 bits, therefore decimal text. */
const StoredNumber = MessageId

const Limit = (most: number) => Schema.Int.check(Schema.isBetween({ minimum: 1, maximum: most }))
const Some = <Item extends Schema.Top>(item: Item, most: number) =>
  Schema.Array(item).check(Schema.isMinLength(1), Schema.isMaxLength(most))

const chat_id = described(PlatformId, "The chat.")

/** Pages of messages beyond `bound` in one direction, in its order. */
const SealedWindow = Schema.Struct({
  chat_id,
  direction: described(Schema.Literals(["older", "newer"]), "To older or to newer messages."),
  bound: described(Schema.optionalKey(MessageId), "Only pages with messages beyond this one."),
  read: described(
    Schema.optionalKey(Schema.Array(StoredNumber).check(Schema.isMaxLength(600))),
    "Pages to leave out, at most 600."
  ),
  since: described(Schema.optionalKey(DateTime), "Only pages with messages sent then or later."),
  until: described(Schema.optionalKey(DateTime), "Only pages with messages sent before."),
  enough: described(Limit(10_000), "Messages: the page after those that have so many is the last one."),
  limit: described(Limit(sealedRowsPerAnswer), "The most pages.")
}).annotate({ identifier: "sealed_window" })

/** Edits, deletions and files of messages of one chat. */
const SealedStates = Schema.Struct({
  chat_id,
  message_ids: described(Some(MessageId, 200), "The messages, at most 200.")
}).annotate({ identifier: "sealed_states" })

/** All edits of a message, beyond the first `skip`. */
const SealedEdits = Schema.Struct({
  chat_id,
  message_id: described(MessageId, "The message."),
  skip: described(Schema.Int.check(Schema.isBetween({ minimum: 0, maximum: 1000 })), "Edits to leave out, the oldest.")
}).annotate({ identifier: "sealed_edits" })

/** Chats, the last message first, beyond `after`. */
const SealedChats = Schema.Struct({
  type: described(Schema.optionalKey(ChatType), "Only chats of this type."),
  selected: described(
    Schema.optionalKey(Schema.Boolean),
    "Only chats that the rules have archived, or only the others."
  ),
  after: described(Schema.optionalKey(PlatformId), "Only those after this chat."),
  limit: described(Limit(101), "The most chats.")
}).annotate({ identifier: "sealed_chats" })

/** A list goes on after the block or page with this time and number. */
const Position = Schema.Struct({
  at: described(DateTime, "Its last_at."),
  number: described(StoredNumber, "Its number.")
}).annotate({ identifier: "sealed_position" })

const listed = {
  below: described(DateTime, "Only those that may hold a message sent then or before."),
  after: described(Schema.optionalKey(Position), "Only those after this one.")
}

/** Vocabularies; those that are known come without their words. */
const SealedBlocks = Schema.Struct({
  ...listed,
  limit: described(Limit(sealedBlocksPerAnswer), "The most vocabularies."),
  known: described(
    Schema.optionalKey(Schema.Array(StoredNumber).check(Schema.isMaxLength(1000))),
    "Blocks whose words are known, at most 1000."
  )
}).annotate({ identifier: "sealed_blocks_asked" })

/** Pages without a vocabulary, and rows of the tail, without their frames. */
const LooseSealed = Schema.Struct({
  ...listed,
  limit: described(Limit(sealedPagesListed), "The most pages.")
}).annotate({ identifier: "sealed_loose" })

const AccountPages = Schema.Struct({
  account_id: described(AccountId, "The account of the pages."),
  numbers: described(
    Schema.String.check(Schema.isPattern(/^[0-9A-Za-z+/]+={0,2}$/), Schema.isMaxLength(sealedNumbersLength)),
    "Their numbers, ascending, as varints of differences in base64."
  )
}).annotate({ identifier: "sealed_account_pages" })

/** Pages of vocabularies that may match, the newest first; with their frames where there are few of them. */
const CandidatePages = Schema.Struct({
  below: listed.below,
  candidates: described(Some(AccountPages, sealedBlocksNamed), "The pages, at most 512, by account; at most 64.")
}).annotate({ identifier: "sealed_candidates" })

const NamedPage = Schema.Struct({
  account_id: described(AccountId, "The account of the page."),
  number: described(StoredNumber, "Its number.")
}).annotate({ identifier: "sealed_page_name" })

/** Pages by their numbers, with their frames. */
const NamedPages = Some(NamedPage, sealedRowsPerAnswer)

/** The pages that may hold a message as it was first seen, with their frames. */
const MessagePages = Schema.Struct({
  account_id: described(AccountId, "The account."),
  chat_id,
  message_id: described(MessageId, "The message.")
}).annotate({ identifier: "sealed_message" })

/** Files of an account, the newest first, beyond `after`. */
const SealedFiles = Schema.Struct({
  account_id: described(AccountId, "The account."),
  chat_id: described(Schema.optionalKey(PlatformId), "Only files of this chat."),
  state: described(Schema.optionalKey(FileState), "Only files in this state."),
  after: described(Schema.optionalKey(FileId), "Only those after this file."),
  limit: described(Limit(101), "The most files.")
}).annotate({ identifier: "sealed_files" })

const FilePlace = Schema.Struct({
  chat_id,
  day: described(CalendarDay, "The day of the file."),
  message_id: described(MessageId, "The message of the file.")
}).annotate({ identifier: "sealed_file_place" })

/** The messages that files were sent with, beyond the first `skip` pages of them. */
const FileMessages = Schema.Struct({
  account_id: described(AccountId, "The account."),
  messages: described(Some(FilePlace, 100), "The messages, at most 100."),
  skip: described(Schema.Int.check(Schema.isBetween({ minimum: 0, maximum: 1000 })), "Pages to leave out.")
}).annotate({ identifier: "sealed_file_messages" })

const Named = Schema.Array(AccountId).check(Schema.isMinLength(1), Schema.isMaxLength(100))
const NamedChats = Schema.Array(PlatformId).check(Schema.isMinLength(1), Schema.isMaxLength(100))

/** The parts of a request of an account's archive, of which each request has one. */
export const sealedPagesParts = {
  messages: Schema.optionalKey(SealedWindow).annotateKey({
    description:
      "Pages of a chat's messages beyond `bound`, with the states of their messages; without the pages in `read`."
  }),
  states: Schema.optionalKey(SealedStates).annotateKey({
    description: "Edits, deletions and files of up to 200 messages."
  }),
  edits: Schema.optionalKey(SealedEdits).annotateKey({
    description: "All edits of a message, beyond the first `skip`."
  }),
  chats: Schema.optionalKey(SealedChats).annotateKey({ description: "Chats, the last message first." }),
  chat: Schema.optionalKey(PlatformId).annotateKey({ description: "One chat, and the page with its members." }),
  named_chats: Schema.optionalKey(Some(PlatformId, 100)).annotateKey({
    description: "Chats by their ids, at most 100; those that the account does not have are left out."
  }),
  known_chats: Schema.optionalKey(Schema.Array(PlatformId).check(Schema.isMaxLength(100))).annotateKey({
    description: "Chats of which the account's are counted."
  }),
  epochs: Schema.optionalKey(Schema.Array(MessageId).check(Schema.isMaxLength(600))).annotateKey({
    description: "Epochs whose keys are asked for."
  })
}

/** The accounts, chats and times that a search is about. */
export const sealedScope = {
  account_ids: Schema.optionalKey(
    Named
  ).annotateKey({ description: "Only these accounts, at most 100; without them, all that the admin can access." }),
  chat_ids: Schema.optionalKey(NamedChats)
    .annotateKey({ description: "Only these chats, at most 100." }),
  since: Schema.optionalKey(DateTime).annotateKey({ description: "Only messages sent at or after this time." }),
  until: Schema.optionalKey(DateTime).annotateKey({ description: "Only messages sent before this time." })
}

/** The parts of a request of a search, of which each request has one. */
export const sealedBlocksParts = {
  blocks: Schema.optionalKey(SealedBlocks).annotateKey({
    description: "Vocabularies of pages with messages sent at `below` or before; those in `known` without their words."
  }),
  loose: Schema.optionalKey(LooseSealed).annotateKey({
    description: "Pages that have no vocabulary, and rows of the tail, without their frames."
  }),
  pages: Schema.optionalKey(CandidatePages).annotateKey({
    description: "Pages that vocabularies name, the newest first; the first 64 of the answer with their frames."
  }),
  sealed: Schema.optionalKey(NamedPages).annotateKey({ description: "Pages by their numbers, with their frames." }),
  message: Schema.optionalKey(MessagePages).annotateKey({
    description: "The pages that may hold a message as it was first seen."
  })
}

/** The parts of a request of files, of which each request has one. */
export const sealedFilesParts = {
  files: Schema.optionalKey(Some(FileId, 100)).annotateKey({
    description: "Files by their ids, at most 100; those that are not there or out of reach are left out."
  }),
  list: Schema.optionalKey(SealedFiles).annotateKey({ description: "Files of an account, the newest first." }),
  messages: Schema.optionalKey(FileMessages).annotateKey({
    description: "The pages of the messages that files were sent with."
  })
}
