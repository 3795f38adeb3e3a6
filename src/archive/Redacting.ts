/** The taking out of what messages say: their pages, edits, files and vocabularies are rewritten or deleted. */
import { Effect } from "effect"
import { sameBytes } from "../domain/archive/Bytes.ts"
import { redactChange, redactMessage, rewrittenAtOnce } from "../domain/archive/Redaction.ts"
import { ArchiveHeld, ContentUnreadable, ParameterInvalid, ResourceMissing } from "../domain/Failure.ts"
import { ArchiveCrypto } from "../ports/archive/ArchiveCrypto.ts"
import { ArchiveHolds } from "../ports/archive/ArchiveHolds.ts"
import {
  ArchiveRedactions,
  type RedactedMessages,
  type RedactedPlace,
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
    places: ReadonlyArray<RedactedPlace>,
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

/** Reads the places of the messages and rewrites them, before the transaction that commits it. */
export const prepareRedaction = Effect.fnUntraced(function*(
  open: OpenAccount,
  messages: RedactedMessages,
  redactedAt: number
) {
  const redactions = yield* ArchiveRedactions
  const db = yield* Db
  const places = yield* db.read(messages.account.organizationId, redactions.places(messages, rewrittenAtOnce + 1))
  if (places.length > rewrittenAtOnce) return yield* tooMany
  const there = new Set(places.flatMap(({ ids, kind }) => kind === "messages" ? ids : []))
  if (!messages.ids.every((id) => there.has(id))) return yield* new ResourceMissing({ param: "message_ids" })
  return yield* rewrite(open, messages, places, redactedAt)
})

/**
 * Stores what was prepared, in the transaction that is open; null where what the messages are in has changed meanwhile,
 * and has to be prepared again.
 */
export const applyRedaction = Effect.fnUntraced(function*(
  messages: RedactedMessages,
  prepared: ReadonlyArray<RewrittenPlace>,
  now: Date
) {
  const { account } = messages
  const redactions = yield* ArchiveRedactions
  if (!(yield* redactions.lock(account))) return yield* new ResourceMissing({ param: "account_id" })
  const places = yield* redactions.numbers(messages)
  const known = new Set(prepared.map(({ number }) => number))
  if (places.length !== known.size || !places.every(({ number }) => known.has(number))) return null
  const days = [...new Set(places.map(({ day }) => day))]
  const held = yield* (yield* ArchiveHolds).binds(account.organizationId, {
    accountIds: [account.accountId],
    before: null,
    days
  })
  if (held) return yield* new ArchiveHeld({})
  const changed = prepared.filter(({ rewritten, sealed }) => !sameBytes(rewritten, sealed))
  const redacted = yield* redactions.apply(messages, changed, now)
  return { ...redacted, pages: changed.filter(({ isPage }) => isPage).length }
})
