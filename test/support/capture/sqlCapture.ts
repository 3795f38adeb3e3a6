/** Histories of capture in the real archive: sealed by its writer, stored in the database, and read again. */
import { Clock, Context, Effect, Layer, Scope, Semaphore } from "effect"
import { SqlClient } from "effect/sql"
import { listEdits, listMessages, type OpenAccount } from "../../../src/archive/Reader.ts"
import * as Writer from "../../../src/archive/Writer.ts"
import { OpenArchives } from "../../../src/capture/OpenArchives.ts"
import { ComparedAge } from "../../../src/capture/Unchecked.ts"
import { decodeIds } from "../../../src/domain/archive/MessageIds.ts"
import type { OrganizationId } from "../../../src/domain/people/Access.ts"
import { ArchiveRules } from "../../../src/ports/archive/ArchiveRules.ts"
import { CaptureStore } from "../../../src/ports/archive/CaptureStore.ts"
import type { ArchivedAccount } from "../../../src/ports/archive/Epochs.ts"
import { Db } from "../../../src/ports/Db.ts"
import * as Archives from "../archive/archives.ts"
import { miscounts } from "../archive/counters.ts"
import * as World from "../world.ts"
import { type Archived, type CaptureGround, InTransaction, Killed } from "./captureGround.ts"

type Key = Archives.Archive["key"]

/** Ids of archived messages; a page has them as its record says, a row of the tail has one. */
const idsOf = (sql: SqlClient.SqlClient, { accountId, organizationId }: ArchivedAccount) =>
  sql<{ chat: string; ids: Uint8Array | null; message: string | null }>`
    select chat_id::text as chat, ids, null as message from archive_page
    where organization_id = ${organizationId} and account_id = ${accountId} and kind = 'messages'
    union all
    select chat_id::text, null, message_id::text from archive_tail
    where organization_id = ${organizationId} and account_id = ${accountId} and kind = 'messages'`.pipe(
    Effect.orDie,
    Effect.map((rows) => {
      const found = new Map<bigint, Set<bigint>>()
      for (const { chat, ids, message } of rows) {
        const known = found.get(BigInt(chat)) ?? new Set()
        found.set(BigInt(chat), known)
        for (const id of ids === null ? [] : decodeIds(ids)) known.add(id)
        if (message !== null) known.add(BigInt(message))
      }
      return found
    })
  )

/** Everything of the chat, as readers get it. */
const readChat = Effect.fnUntraced(function*(open: OpenAccount, chatId: bigint, late: ReadonlySet<string>) {
  const found = new Map<bigint, Archived>()
  for (let bound: bigint | null = null;;) {
    const page: Effect.Success<ReturnType<typeof listMessages>> = yield* listMessages(open, {
      ...Archives.newest,
      chatId,
      bound,
      limit: 100
    })
    for (const { deleted_at, edited_at, edits, id, text } of page.messages) {
      const all = edits === 0 ? null : yield* listEdits(open, chatId, BigInt(id))
      const revisions = all === null
        ? [{ editedAt: (edited_at?.getTime() ?? 0) / 1000, mark: text, late: false }]
        : all.revisions.map((revision) => {
          const editedAt = (revision.edited_at?.getTime() ?? 0) / 1000
          return { editedAt, mark: revision.text, late: late.has(`${chatId}/${id} ${editedAt}`) }
        })
      found.set(BigInt(id), { revisions, newest: text, deleted: deleted_at !== null })
    }
    if (page.next === null) return found
    bound = page.next
  }
})

/** Edits that came late, by chat, message and second. */
const lateOf = (sql: SqlClient.SqlClient, { accountId, organizationId }: ArchivedAccount) =>
  sql<{ name: string }>`
    select chat_id || '/' || message_id || ' ' || edit_date as name from archive_change
    where organization_id = ${organizationId} and account_id = ${accountId} and late`.pipe(
    Effect.orDie,
    Effect.map((rows) => new Set(rows.map(({ name }) => name)))
  )

/** A new account of the organization, whose history is archived in the database. */
export const sqlGround = Effect.fnUntraced(function*(organizationId: OrganizationId, key: Key) {
  const { id: accountId } = yield* World.makeLiveAccount(organizationId)
  yield* World.query(
    organizationId,
    (sql) =>
      sql`insert into archive_run (organization_id, account_id, next_at, fence)
        values (${organizationId}, ${accountId}, ${new Date(0)}, 1)`
  )
  const account: ArchivedAccount = { organizationId, accountId }
  // A history has a clock of its own.
  const context = Context.omit(Clock.Clock)(yield* Effect.context<never>()) as Context.Context<any>
  const db = yield* Db
  const sql = yield* SqlClient.SqlClient
  const rules = yield* ArchiveRules
  const store = yield* CaptureStore
  const transactions = Semaphore.makeUnsafe(1)
  const open = yield* Archives.open({ account, key })

  const within = <A>(work: Effect.Effect<A, any, any>): Effect.Effect<A> =>
    Effect.orDie(Effect.provideContext(work, context)) as Effect.Effect<A>
  const read = <A>(work: Effect.Effect<A, any, any>): Effect.Effect<A> => within(db.read(organizationId, work))

  const newProcess: CaptureGround["newProcess"] = Effect.fnUntraced(function*(commits) {
    let isDead = false
    const transaction: Db["Service"]["transaction"] = (organization, work) =>
      transactions.withPermit(Effect.suspend(() => {
        if (isDead) return Effect.die(new Killed())
        let death: "before" | "after" | null = null
        const dying = Effect.suspend(() => {
          death = commits.dies()
          isDead ||= death !== null
          return death === "before" ? Effect.die(new Killed()) : Effect.void
        })
        return db.transaction(organization, Effect.tap(Effect.provideService(work, InTransaction, true), dying)).pipe(
          Effect.tap(() => commits.committed),
          Effect.tap(() => death === "after" ? Effect.die(new Killed()) : Effect.void)
        )
      }))
    const mortal = Db.of({
      ...db,
      transaction,
      read: (organization, work) =>
        Effect.suspend(() => isDead ? Effect.die(new Killed()) : db.read(organization, work))
    })
    const over = context.pipe(Context.add(Db, mortal), Context.add(ComparedAge, null))
    const archives = Layer.fresh(Layer.provide(OpenArchives.layer, Writer.layer))
    // A process that has died closes nothing.
    const scope = yield* Scope.make()
    const made = yield* within(Effect.provideContext(Layer.buildWithScope(archives, scope), over))
    return Context.merge(over, made)
  })

  return {
    account,
    newProcess,
    setRules: (wanted) =>
      transactions.withPermit(within(db.transaction(
        organizationId,
        Effect.gen(function*() {
          const now = new Date(yield* Clock.currentTimeMillis)
          for (const { ruleId } of yield* rules.inEffect(account)) yield* rules.remove(organizationId, ruleId as any)
          for (const { chatId, chatType, effect, level, live, maxFileBytes, media } of wanted) {
            const rule = { chatId, chatType, effect, level, live, maxFileBytes, media }
            yield* rules.add(organizationId, { ...rule, target: accountId, updatedAt: now, updatedBy: null })
          }
          yield* rules.selectAgain(organizationId, { level: "account", target: accountId, chatId: null }, now)
        })
      ))),
    chats: Effect.map(read(store.chats(account, null)), (all) => new Map(all.map((chat) => [chat.chatId, chat]))),
    ids: read(idsOf(sql, account)),
    texts: (chatId, id) =>
      Effect.map(
        within(listEdits(open, chatId, id)),
        (found) => found === null ? [] : found.revisions.map(({ text }) => text)
      ),
    miscounted: Effect.map(within(miscounts(organizationId)), ({ accounts, chats }) => accounts + chats),
    archived: within(Effect.gen(function*() {
      const late = yield* db.read(organizationId, lateOf(sql, account))
      const chats = yield* db.read(organizationId, store.chats(account, null))
      const found = new Map<bigint, ReadonlyMap<bigint, Archived>>()
      for (const { chatId } of chats) found.set(chatId, yield* readChat(open, chatId, late))
      return found
    }))
  } satisfies CaptureGround
})
