/** The making of pages out of tail rows: re-sealed as one frame by their writer, or packed without a key. */
import { Clock, Duration, Effect, Option } from "effect"
import { concat } from "../domain/archive/Bytes.ts"
import { sortedIds } from "../domain/archive/MessageIds.ts"
import { dayOf, messagesPerPage } from "../domain/archive/PageRules.ts"
import type { RecordOf } from "../domain/archive/Records.ts"
import { ArchiveCrypto } from "../ports/archive/ArchiveCrypto.ts"
import { ArchiveRecords, type TailGroup, type TailRow } from "../ports/archive/ArchiveRecords.ts"
import { Db } from "../ports/Db.ts"
import type { EpochWriter } from "./EpochWriter.ts"
import { notePage } from "./PageIndexing.ts"

/** Messages of a day that arrive late still come into its tail. */
const graceAfterDay = Duration.minutes(10)

/** Every day is before it. */
const everyDay = "infinity"

/** Adds the page of these tail rows, in place of them. */
const replace = Effect.fnUntraced(function*(
  { account }: EpochWriter,
  { chatId, day, kind, sentDay }: TailGroup,
  rows: ReadonlyArray<TailRow>,
  sealed: Uint8Array
) {
  const crypto = yield* ArchiveCrypto
  const records = yield* ArchiveRecords
  const times = rows.map(({ at }) => at.getTime())
  const page = {
    chatId,
    day,
    kind,
    ids: sortedIds(rows.map(({ messageId }) => messageId)),
    firstAt: new Date(Math.min(...times)),
    lastAt: new Date(Math.max(...times)),
    sentDay,
    digest: yield* crypto.sha256(sealed),
    sealed
  }
  const [number] = yield* records.addPages(account, [page])
  if (number === undefined) return yield* Effect.die(new Error("A page was not stored"))
  yield* records.replaceTail(account, rows.map((row) => row.number), number)
  yield* records.resize(account, chatId, sealed.length - rows.reduce((bytes, row) => bytes + row.sealed.length, 0))
  return { number, page }
})

/** Each group a page and a transaction at a time, for as long as the list names any. */
const eachGroup = Effect.fnUntraced(function*<E, R>(
  writer: EpochWriter,
  list: Effect.Effect<ReadonlyArray<TailGroup>, E, R>,
  run: (group: TailGroup) => Effect.Effect<void, E, R>
) {
  const db = yield* Db
  const inTransaction = <A>(effect: Effect.Effect<A, E, R>) => db.transaction(writer.account.organizationId, effect)
  let groups = yield* inTransaction(list)
  while (groups.length > 0) {
    for (const group of groups) yield* inTransaction(run(group))
    groups = yield* inTransaction(list)
  }
})

/** Closes the tail of the writer's own epoch: full groups and days that are over, or all. */
export const closeTail = Effect.fnUntraced(function*(writer: EpochWriter, which: "due" | "all") {
  const records = yield* ArchiveRecords
  const { account } = writer
  const now = yield* Clock.currentTimeMillis
  const until = which === "all" ? everyDay : dayOf((now - Duration.toMillis(graceAfterDay)) / 1000)
  const due = Effect.map(
    writer.fenced((epochId) => records.dueGroups(account, epochId, until, messagesPerPage)),
    ({ found }) => found
  )
  yield* eachGroup(writer, due, (group) =>
    Effect.gen(function*() {
      const rows = yield* records.takeTail(account, group, yield* writer.fence, messagesPerPage)
      if (rows.length === 0) return
      const opened = yield* writer.reopen(group, concat(...rows.map(({ sealed }) => sealed)))
      // Frames that do not open stay as they are, to be counted by readers.
      const sealed = Option.isNone(opened)
        ? concat(...rows.map(({ sealed }) => sealed))
        : yield* resealed(writer, group, opened.value)
      const { number, page } = yield* replace(writer, group, rows, sealed)
      if (Option.isSome(opened)) yield* notePage(writer, number, page)
    }))
})

const resealed = <Kind extends TailGroup["kind"]>(
  writer: EpochWriter,
  group: TailGroup & { readonly kind: Kind },
  records: ReadonlyArray<RecordOf<Kind>>
) => writer.seal(group, records)

/** Packs what writers before this one left in the tail: their frames one after the other, which needs no key. */
export const packTail = Effect.fnUntraced(function*(writer: EpochWriter) {
  const records = yield* ArchiveRecords
  const { account } = writer
  const dead = Effect.map(writer.fenced(() => records.deadGroups(account)), ({ found }) => found)
  yield* eachGroup(writer, dead, (group) =>
    Effect.gen(function*() {
      yield* writer.fence
      const rows = yield* records.takeTail(account, group, null, messagesPerPage)
      if (rows.length > 0) yield* replace(writer, group, rows, concat(...rows.map(({ sealed }) => sealed)))
    }))
})
