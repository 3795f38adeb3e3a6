/** The position of a search, as its caller carries it from one page to the next. */
import { Option, Schema } from "effect"
import { AccountId } from "../accounts/Account.ts"
import { MessageId, PlatformId } from "./PlatformId.ts"
import { lastSecond } from "./Records.ts"
import type { SearchPosition } from "./SearchHit.ts"

const UnixSeconds = Schema.Finite.check(Schema.isBetween({ minimum: 0, maximum: lastSecond }))

const Time = [Schema.Literal("search/1"), Schema.String, UnixSeconds, UnixSeconds] as const

/** Version, hash of the query, time, and the time to which is counted; after a hit, its chat, message and account too. */
const Place = Schema.Union([Schema.Tuple(Time), Schema.Tuple([...Time, PlatformId, MessageId, AccountId])])

const Cursor = Schema.StringFromBase64Url.pipe(Schema.decodeTo(Schema.fromJsonString(Place)))

/** A cursor as it is sent: base64url, at most 400 characters. */
export const SearchCursor = Schema.String.check(
  Schema.isPattern(/^[0-9A-Za-z_-]{1,400}$/u, { expected: "a cursor: base64url of at most 400 characters" })
)

const encode = Schema.encodeSync(Cursor)
const decode = Schema.decodeUnknownOption(Cursor)

/** The cursor of a query: base64url of a JSON array. `query` is the hash of what is searched for. */
export const writeCursor = (position: SearchPosition, query: string): string => {
  const time = ["search/1", query, position.at, position.counted] as const
  return encode(
    "chatId" in position
      ? [...time, String(position.chatId), String(position.messageId), position.accountId]
      : time
  )
}

/** The position; null where it is no cursor, or another query's. */
export const readCursor = (cursor: string, query: string): SearchPosition | null => {
  const place = Option.getOrNull(decode(cursor))
  if (place === null || place[1] !== query) return null
  if (place.length === 4) return { at: place[2], counted: place[3] }
  const [, , at, counted, chat, message, accountId] = place
  return { at, counted, chatId: BigInt(chat), messageId: BigInt(message), accountId }
}
