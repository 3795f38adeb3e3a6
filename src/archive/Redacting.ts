/** The taking out of what messages say: their pages, edits, files and vocabularies are rewritten or deleted. */
import { Effect } from "effect"
import { sameBytes } from "../domain/archive/Bytes.ts"
import { frameBytesAtOnce, piecesWithin } from "../domain/archive/PageRules.ts"
import { redactChange, redactMessage, rewrittenAtOnce } from "../domain/archive/Redaction.ts"
import { ArchiveHeld, ContentUnreadable, ParameterInvalid, ResourceMissing } from "../domain/Failure.ts"
import { ArchiveCrypto } from "../ports/archive/ArchiveCrypto.ts"
import { ArchiveHolds } from "../ports/archive/ArchiveHolds.ts"
import {
  ArchiveRedactions,
  type FramedPlace,
  type RedactedMessages,
  type RewrittenPlace
} from "../ports/archive/ArchiveRedactions.ts"
import { Db } from "../ports/Db.ts"
import { rewriteFrames } from "./Frames.ts"
import { keysOf, type OpenAccount } from "./OpenedFrames.ts"

/** Every place with its frames as they are to be; it fails where one does not open, and then nothing is redacted. */
const rewrite = Effect.fnUntraced(
  function*(
    open: OpenAccount,
    { chatId, ids }: RedactedMessages,
    places: ReadonlyArray<FramedPlace>,
    redactedAt: number
  ) {
    const { sha256 } = yield* ArchiveCrypto
    const keyOf = yield* keysOf(open, places)
    const asked = new Set(ids)
    const rewritten: Array<RewrittenPlace> = []
    for (const place of places) {
      const { day, kind, sealed } = place
      const frames = kind === "messages"
        ? yield* rewriteFrames(
          keyOf,
          { chatId, day, kind },
          sealed,
          (record) => asked.has(record.id) ? redactMessage(record, redactedAt) : record
        )
        : yield* rewriteFrames(
          keyOf,
          { chatId, day, kind },
          sealed,
          (record) => asked.has(BigInt(record.id)) ? redactChange(record, redactedAt) : record
        )
      rewritten.push({ ...place, rewritten: frames, digest: yield* sha256(frames) })
    }
    return rewritten
  },
  Effect.mapError(() =>
    new ContentUnreadable({ message: "Some of these messages or their edits do not open: nothing was redacted." })
  )
)

const tooMany = new ParameterInvalid({
  param: "message_ids",
  message: `message_ids: they have more than ${rewrittenAtOnce} revisions, name fewer messages at a time.`
})

/** A redaction before the transaction that commits it. */
export interface PreparedRedaction {
  readonly numbers: ReadonlySet<bigint>
  /** The first places, rewritten. */
  readonly first: ReadonlyArray<RewrittenPlace>
  /** The other ones, which open and are rewritten in the transaction, a slice at a time. */
  readonly later: ReadonlyArray<ReadonlyArray<bigint>>
  readonly redactedAt: number
}

/**
 * Reads the places of the messages and opens all of them, before the transaction. It holds no more than one slice of
 * them: a message may have been edited any number of times.
 */
export const prepareRedaction = Effect.fnUntraced(function*(
  open: OpenAccount,
  messages: RedactedMessages,
  redactedAt: number,
  bytes = frameBytesAtOnce
) {
  const { organizationId } = messages.account
  const redactions = yield* ArchiveRedactions
  const db = yield* Db
  const places = yield* db.read(organizationId, redactions.places(messages, bytes))
  if (messages.ids.length > 1 && places.length > rewrittenAtOnce) return yield* tooMany
  const there = new Set(places.flatMap(({ ids, kind }) => kind === "messages" ? ids : []))
  if (!messages.ids.every((id) => there.has(id))) return yield* new ResourceMissing({ param: "message_ids" })
  const framed = places.flatMap((place) => place.sealed === null ? [] : [{ ...place, sealed: place.sealed }])
  const first = yield* rewrite(open, messages, framed, redactedAt)
  const unread = places.filter(({ sealed }) => sealed === null)
  const later = piecesWithin(unread, (place) => place.bytes, bytes, rewrittenAtOnce)
    .map((slice) => slice.map(({ number }) => number))
  for (const numbers of later) {
    const found = yield* db.read(organizationId, redactions.frames(messages, numbers))
    // Without messages it only opens them.
    yield* rewrite(open, { ...messages, ids: [] }, found, redactedAt)
  }
  return { numbers: new Set(places.map(({ number }) => number)), first, later, redactedAt } satisfies PreparedRedaction
})

/**
 * Stores what was prepared, in the transaction that is open; null where what the messages are in has changed meanwhile,
 * and has to be prepared again.
 */
export const applyRedaction = Effect.fnUntraced(function*(
  open: OpenAccount,
  messages: RedactedMessages,
  { first, later, numbers: known, redactedAt }: PreparedRedaction,
  now: Date
) {
  const { account } = messages
  const redactions = yield* ArchiveRedactions
  if (!(yield* redactions.lock(account))) return yield* new ResourceMissing({ param: "account_id" })
  const places = yield* redactions.numbers(messages)
  if (places.length !== known.size || !places.every(({ number }) => known.has(number))) return null
  const days = [...new Set(places.map(({ day }) => day))]
  const held = yield* (yield* ArchiveHolds).binds(account.organizationId, {
    accountIds: [account.accountId],
    before: null,
    days
  })
  if (held) return yield* new ArchiveHeld({})
  const id = yield* redactions.newId
  let pages = 0
  const replace = (rewritten: ReadonlyArray<RewrittenPlace>) => {
    const changed = rewritten.filter(({ rewritten, sealed }) => !sameBytes(rewritten, sealed))
    pages += changed.filter(({ isPage }) => isPage).length
    return redactions.replace(id, messages, changed)
  }
  yield* replace(first)
  for (const numbers of later) {
    yield* replace(yield* rewrite(open, messages, yield* redactions.frames(messages, numbers), redactedAt))
  }
  return { id, ...(yield* redactions.finish(messages, now)), pages }
})
