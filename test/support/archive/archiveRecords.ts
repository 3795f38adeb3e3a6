/** Random records of an archive. */
import * as fc from "fast-check"
import type {
  ChangeRecord,
  ChatRecord,
  MemberRecord,
  MessageDetails,
  MessageRecord
} from "../../../src/domain/archive/Records.ts"
import { largestId, lastSecond, MessageKind } from "../../../src/domain/archive/Records.ts"

const text = fc.string({ unit: "binary", maxLength: 30 })
const maybe = <A>(value: fc.Arbitrary<A>) => fc.option(value, { freq: 3 })
const time = fc.integer({ min: 0, max: lastSecond })
const id = fc.oneof(
  fc.bigInt({ min: 0n, max: 1_000_000n }),
  fc.bigInt({ min: 0n, max: largestId }),
  fc.constantFrom(0n, 2n ** 53n, largestId)
)
const idText = id.map(String)

/** Any JSON, but for minus zero, which it does not write. */
const json = (maxDepth: number) => fc.jsonValue({ maxDepth }).map((value) => JSON.parse(JSON.stringify(value)))

/** Members that no version knows. */
const further = fc.dictionary(fc.constantFrom("later", "also later"), json(2), { maxKeys: 2 })

const file = fc.record({ id: fc.uuid(), name: maybe(text), mime_type: text, bytes: fc.nat() })
const entity = fc.record({ type: text, offset: fc.nat(), length: fc.nat(), url: text }, {
  requiredKeys: ["type", "offset", "length"]
})

const details: fc.Arbitrary<MessageDetails> = fc.tuple(
  fc.record({
    caption: text,
    transcript: text,
    reply_to_id: idText,
    forwarded_from: text,
    files: fc.array(file, { maxLength: 2 }),
    entities: fc.array(entity, { maxLength: 2 }),
    service: text,
    poll: fc.array(text, { maxLength: 2 }),
    contact: fc.array(text, { maxLength: 2 }),
    sticker: fc.record({ id: text, emoji: maybe(text) }),
    reactions: fc.array(fc.record({ emoji: text, emoji_id: text, count: fc.nat() }, { requiredKeys: ["count"] }), {
      maxLength: 2
    }),
    outgoing: fc.boolean(),
    edited_at: time
  }, { requiredKeys: [] }),
  further
).map(([known, unknown]) => ({ ...unknown, ...known }))

const sender = fc.tuple(
  fc.record({ id: fc.constantFrom("u1", "u2"), name: maybe(text), username: maybe(text) }),
  further
)
  .map(([known, unknown]) => ({ ...unknown, ...known }))

const message: fc.Arbitrary<MessageRecord> = fc.record({
  id,
  at: time,
  archivedAt: time,
  from: maybe(sender),
  kind: fc.constantFrom(...MessageKind.literals),
  text: maybe(text),
  details
})

/** Messages, some with columns of a later version, which all of a frame have. */
const messages: fc.Arbitrary<ReadonlyArray<MessageRecord>> = fc.tuple(
  fc.array(fc.tuple(message, json(1)), { maxLength: 8 }),
  fc.boolean()
).map(([records, columned]) =>
  records.map(([record, value]) => columned ? { ...record, unknown: { mood: value } } : record)
)

const change: fc.Arbitrary<ChangeRecord> = fc.oneof(
  fc.record({
    change: fc.constant("edited" as const),
    id: idText,
    seen_at: time,
    edited_at: maybe(time),
    text: maybe(text),
    details
  }),
  fc.record({
    change: fc.constant("deleted" as const),
    id: idText,
    seen_at: time,
    why: fc.constantFrom("deleted" as const, "expired" as const, "absent" as const)
  })
)

const member: fc.Arbitrary<MemberRecord> = fc.record({
  seen_at: time,
  id: text,
  name: text,
  username: maybe(text),
  phone: maybe(text),
  role: fc.constantFrom("owner" as const, "admin" as const, "member" as const, "left" as const),
  joined_at: maybe(time),
  last_seen_in_chat_at: maybe(time)
})

const chat: fc.Arbitrary<ChatRecord> = fc.record({
  seen_at: time,
  title: maybe(text),
  username: maybe(text),
  members_count: maybe(fc.nat())
})

/** Records of each kind of frame. */
export const records = {
  messages,
  changes: fc.array(change, { maxLength: 6 }),
  members: fc.array(member, { maxLength: 6 }),
  chat: fc.array(chat, { maxLength: 2 })
}
