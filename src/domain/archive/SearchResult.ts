/** The answer of a search of the archive. */
import { Schema } from "effect"
import { AccountId } from "../accounts/Account.ts"
import { ContentNotice, Count, described, Kind } from "../JsonShapes.ts"
import { defaultSearchLimit, searchRevisionsLimit } from "../Limits.ts"
import { Message } from "./Message.ts"

const SearchField = Schema.Literals(["text", "caption", "transcript", "file", "poll", "contact", "service"])

const Match = Schema.Struct({
  field: described(SearchField, "The part of the message; `file` is the name of one of its files."),
  revision: described(
    Count,
    "The revision, as list_message_edits numbers them; 0 is the message as it was first seen."
  ),
  start: described(Count, "The place of the word in that text, in UTF-16 code units."),
  length: described(Count, "Its length, in UTF-16 code units.")
})

/** A message as it is now, with what of it matches. */
export const FoundMessage = Schema.Struct({
  ...Message.fields,
  matches: described(
    Schema.Array(Match),
    `The first place of each word in each text of a revision that has all words: of the ${searchRevisionsLimit} newest such revisions, where there are more.`
  ),
  also_in: described(
    Schema.Array(AccountId),
    "Other accounts that have the same message of a supergroup or channel."
  )
}).annotate({ identifier: "found_message" })
export type FoundMessage = typeof FoundMessage.Type

export const SearchResult = Schema.Struct({
  content_notice: ContentNotice,
  object: Kind("search_result"),
  data: described(Schema.Array(FoundMessage), "The messages that match, newest first."),
  has_more: described(
    Schema.Boolean,
    "Whether to go on with the cursor: more may follow, also where there is no message."
  ),
  cursor: described(
    Schema.NullOr(Schema.String),
    "What to pass for the next page of the same search; null at its end."
  ),
  complete: described(
    Schema.Boolean,
    "Whether the page is full or the search has ended; false where the time was over."
  ),
  searched: described(Count, "Messages that this call has covered."),
  unreadable: described(Count, "Pages of messages that do not open, and texts of edits that do not.")
}).annotate({ identifier: "search_result" })

/** The number of messages on a page: 1 to 100, 20 by default. */
export const SearchLimit = Schema.Int.check(Schema.isBetween({ minimum: 1, maximum: 100 })).annotate({
  default: defaultSearchLimit
})
