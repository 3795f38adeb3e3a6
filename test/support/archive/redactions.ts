/** Redactions past the API, and everything that an archive still opens to. */
import { Effect } from "effect"
import { epochKeyOf, openEach } from "../../../src/archive/OpenedFrames.ts"
import type { OpenAccount } from "../../../src/archive/Reader.ts"
import { applyRedaction, prepareRedaction } from "../../../src/archive/Redacting.ts"
import { openVocabulary } from "../../../src/archive/Vocabularies.ts"
import type { FrameKind } from "../../../src/domain/archive/Epoch.ts"
import { Db } from "../../../src/ports/Db.ts"
import * as World from "../world.ts"

/** Redacts messages of a chat, so many bytes of their pages at a time. */
export const redact = Effect.fnUntraced(function*(
  open: OpenAccount,
  chatId: bigint,
  ids: ReadonlyArray<number>,
  bytes?: number
) {
  const db = yield* Db
  const { account } = open
  const messages = { account, chatId, ids: ids.map(BigInt) }
  const now = new Date(1_800_000_000_000)
  const prepared = yield* prepareRedaction(open, messages, 1_800_000_000, bytes)
  return yield* db.transaction(
    account.organizationId,
    applyRedaction(open, messages, prepared, now)
  )
})

interface Stored {
  readonly number: string
  readonly day: string
  readonly chat: string
  readonly kind: FrameKind
  readonly sealed: Uint8Array
}

/** Everything that the account's pages, tail and vocabularies open to, as one text. */
export const everything = Effect.fnUntraced(function*(open: OpenAccount) {
  const { accountId, organizationId } = open.account
  const frames = yield* World.query<Stored>(
    organizationId,
    (sql) =>
      sql`
      select page_id::text as number, to_char(day, 'YYYY-MM-DD') as day, chat_id::text as chat, kind, sealed
      from archive_page where account_id = ${accountId}
      union all
      select tail_id::text, to_char(day, 'YYYY-MM-DD'), chat_id::text, kind, sealed
      from archive_tail where account_id = ${accountId}`
  )
  const blocks = yield* World.query<{ block: string; epoch: string; sealed: Uint8Array }>(
    organizationId,
    (sql) =>
      sql`select block_id::text as block, epoch_id::text as epoch, sealed from archive_block
        where account_id = ${accountId}`
  )
  const texts: Array<string> = []
  for (const { chat, day, kind, number, sealed } of frames) {
    const [records] = yield* openEach(open, kind, [{ number: BigInt(number), chatId: BigInt(chat), day, sealed }])
    texts.push(JSON.stringify(records, (_, value) => typeof value === "bigint" ? String(value) : value))
  }
  for (const { block, epoch, sealed } of blocks) {
    const key = yield* epochKeyOf(open, BigInt(epoch))
    texts.push((yield* openVocabulary(key, BigInt(block), sealed)).words)
  }
  return texts.join("\n")
})
