/** Reads of archives by credential, account and hour, counted in rows until they are journaled. */
import { Array, Clock, Duration, Effect, Latch, Layer, Order, Semaphore } from "effect"
import { SqlClient } from "effect/sql"
import type { AccountId } from "../../../domain/accounts/Account.ts"
import type { Caller, OrganizationId } from "../../../domain/people/Access.ts"
import { type ArchiveRead, ArchiveReads } from "../../../ports/archive/ArchiveReads.ts"
import { Db } from "../../../ports/Db.ts"
import { LruCache } from "../../LruCache.ts"
import * as Tenant from "../../postgres/Tenant.ts"

const hourMillis = Duration.toMillis(Duration.hours(1))
/** The time that counts wait to be written with others. */
const writeDelay = Duration.seconds(1)
const readersRemembered = 10_000
const rowsPerStatement = 1000

interface ReadCount {
  /** It names the row. */
  readonly key: string
  readonly caller: Caller["Service"]
  readonly accountId: AccountId
  readonly hour: Date
  messages: number
  searches: number
  files: number
}

const byKey = Order.mapInput(Order.String, ({ key }: ReadCount) => key)

export const layer = Layer.effect(
  ArchiveReads,
  Effect.gen(function*() {
    const sql = yield* SqlClient.SqlClient
    const db = yield* Db
    const stored = new LruCache<true>(readersRemembered)
    const asked = Latch.makeUnsafe(false)
    const one = Semaphore.makeUnsafe(1)
    let waiting = new Map<string, ReadCount>()

    /** Writes counts of one organization by one statement. */
    const write = (organizationId: OrganizationId, counted: Array.NonEmptyReadonlyArray<ReadCount>) => {
      // Two writers of the same rows lock them in one order.
      const rows = Array.map(Array.sort(counted, byKey), ({ accountId, caller, key: _, ...counts }) => ({
        organization_id: organizationId,
        credential_id: caller.credential.id,
        account_id: accountId,
        ...counts,
        credential_kind: caller.credential.kind,
        credential_label: caller.credential.label,
        admin_id: caller.adminId,
        admin_name: caller.adminName,
        via: caller.via
      }))
      return db.transaction(
        organizationId,
        Effect.asVoid(Effect.orDie(sql`
          insert into archive_read as kept ${sql.insert(rows)}
          on conflict (organization_id, credential_id, account_id, hour) do update set
            messages = kept.messages + excluded.messages, searches = kept.searches + excluded.searches,
            files = kept.files + excluded.files`))
      )
    }

    const writeAll = Effect.suspend(() => {
      asked.closeUnsafe()
      const counted = Map.groupBy(waiting.values(), ({ caller }) => caller.organizationId)
      waiting = new Map()
      return Effect.forEach(
        [...counted].flatMap(([id, of]) => Array.chunksOf(of, rowsPerStatement).map((rows) => [id, rows] as const)),
        ([organizationId, rows]) =>
          Effect.catchCause(
            write(organizationId, rows),
            (cause) => Effect.logError("How much of an archive was read cannot be written", cause)
          ),
        { discard: true }
      )
    }).pipe(one.withPermit, Effect.uninterruptible)

    yield* Effect.addFinalizer(() => writeAll)
    yield* Effect.forkScoped(Effect.forever(Effect.andThen(asked.await, Effect.delay(writeAll, writeDelay))))

    return ArchiveReads.of({
      note: Effect.fnUntraced(function*(caller, reads) {
        const now = yield* Clock.currentTimeMillis
        const hour = new Date(now - now % hourMillis)
        const counted = reads.map(({ accountId, files = 0, messages = 0, searches = 0 }): ReadCount => {
          const key = JSON.stringify([caller.organizationId, caller.credential.id, accountId, hour.getTime()])
          return { key, caller, accountId, hour, messages, searches, files }
        })
        const first = counted.filter(({ key }) => !stored.has(key))
        const further = counted.filter(({ key }) => stored.has(key))
        for (const some of Array.chunksOf(first, rowsPerStatement)) {
          yield* write(caller.organizationId, some)
          for (const { key } of some) stored.set(key, true)
        }
        for (const each of further) {
          const known = waiting.get(each.key)
          if (known === undefined) waiting.set(each.key, each)
          else {
            known.messages += each.messages
            known.searches += each.searches
            known.files += each.files
          }
        }
        if (further.length > 0) asked.openUnsafe()
      }),

      due: (before) =>
        Effect.map(
          Tenant.directory(sql)(sql<{ readonly organization_id: OrganizationId }>`
            select distinct organization_id from archive_read where hour <= ${before}`),
          (rows) => rows.map(({ organization_id }) => organization_id)
        ),

      take: (organizationId, before, most) =>
        Effect.orDie(sql<ArchiveRead>`
          delete from archive_read where organization_id = ${organizationId}
            and (credential_id, account_id, hour) in (
              select credential_id, account_id, hour from archive_read
              where organization_id = ${organizationId} and hour <= ${before}
              order by hour, credential_id, account_id limit ${most} for update)
          returning credential_id, credential_kind, credential_label, admin_id, admin_name, via, account_id, hour,
            messages, files, searches`)
    })
  })
)
