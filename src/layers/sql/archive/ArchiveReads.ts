/** Reads of archives by credential, account and hour, counted in rows until they are journaled. */
import { Clock, Duration, Effect, Latch, Layer, Semaphore } from "effect"
import { SqlClient } from "effect/sql"
import type { AccountId } from "../../../domain/accounts/Account.ts"
import type { Caller, OrganizationId } from "../../../domain/people/Access.ts"
import { type ArchiveRead, ArchiveReads } from "../../../ports/archive/ArchiveReads.ts"
import { Db } from "../../../ports/Db.ts"
import * as Tenant from "../../postgres/Tenant.ts"
import { Remembered } from "../../Remembered.ts"

const hourMillis = Duration.toMillis(Duration.hours(1))
/** The time that counts wait to be written with others. */
const writeDelay = Duration.seconds(1)
const readersRemembered = 10_000

interface Counted {
  readonly caller: Caller["Service"]
  readonly accountId: AccountId
  readonly hour: Date
  messages: number
  searches: number
  files: number
}

export const layer = Layer.effect(
  ArchiveReads,
  Effect.gen(function*() {
    const sql = yield* SqlClient.SqlClient
    const db = yield* Db
    const stored = new Remembered<true>(readersRemembered)
    const asked = Latch.makeUnsafe(false)
    const one = Semaphore.makeUnsafe(1)
    let waiting = new Map<string, Counted>()

    const write = ({ accountId, caller, files, hour, messages, searches }: Counted) =>
      db.transaction(
        caller.organizationId,
        Effect.asVoid(Effect.orDie(sql`
          insert into archive_read as kept (organization_id, credential_id, account_id, hour, messages, searches, files,
            credential_kind, credential_label, admin_id, admin_name, via)
          values (${caller.organizationId}, ${caller.credential.id}, ${accountId}, ${hour}, ${messages}, ${searches}, ${files},
            ${caller.credential.kind}, ${caller.credential.label}, ${caller.adminId}, ${caller.adminName},
            ${caller.via})
          on conflict (organization_id, credential_id, account_id, hour) do update set
            messages = kept.messages + excluded.messages, searches = kept.searches + excluded.searches,
            files = kept.files + excluded.files`))
      )

    const writeAll = Effect.suspend(() => {
      asked.closeUnsafe()
      const counted = [...waiting.values()]
      waiting = new Map()
      return Effect.forEach(counted, (each) =>
        Effect.catchCause(
          write(each),
          (cause) => Effect.logError("How much of an archive was read cannot be written", cause)
        ), { discard: true })
    }).pipe(one.withPermit, Effect.uninterruptible)

    yield* Effect.addFinalizer(() => writeAll)
    yield* Effect.forkScoped(Effect.forever(Effect.andThen(asked.await, Effect.delay(writeAll, writeDelay))))

    return ArchiveReads.of({
      note: Effect.fnUntraced(function*(caller, accountId, messages, searches, files = 0) {
        const now = yield* Clock.currentTimeMillis
        const hour = new Date(now - now % hourMillis)
        const key = JSON.stringify([caller.organizationId, caller.credential.id, accountId, hour.getTime()])
        const counted: Counted = { caller, accountId, hour, messages, searches, files }
        if (!stored.has(key)) {
          yield* write(counted)
          stored.set(key, true)
          return
        }
        const known = waiting.get(key)
        if (known === undefined) waiting.set(key, counted)
        else {
          known.messages += messages
          known.searches += searches
          known.files += files
        }
        asked.openUnsafe()
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
