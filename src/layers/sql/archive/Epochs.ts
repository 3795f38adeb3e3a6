import { Effect, Layer } from "effect"
import { SqlClient } from "effect/sql"
import type { ArchiveKeyId, EpochRef } from "../../../domain/archive/Epoch.ts"
import { type ArchivedAccount, Epochs } from "../../../ports/archive/Epochs.ts"
import * as Tenant from "../../postgres/Tenant.ts"
import { lockArchive } from "./ArchiveLocks.ts"

interface EpochRow {
  readonly epoch: string
  readonly key_id: ArchiveKeyId
  readonly sealed_key: Uint8Array | null
}

/** The writer of an epoch that no writer holds. */
const nobody = "00000000-0000-0000-0000-000000000000"

/** The epochs in SQL. A write or takeover locks the account's archive first, then its epoch, then rows. */
export const layer = Layer.effect(
  Epochs,
  Effect.gen(function*() {
    const sql = yield* SqlClient.SqlClient
    const post = Tenant.post(sql)

    const mine = ({ accountId, organizationId }: ArchivedAccount) =>
      sql`organization_id = ${organizationId} and account_id = ${accountId}`

    /**
     * A deletion of the whole archive locks all archives before it begins: a statement after the lock of one sees if it
     * has. It deletes the epochs some at a time: until then they count as closed and shredded.
     */
    const isDeleting = (organizationId: ArchivedAccount["organizationId"]) =>
      sql`exists (
        select 1 from archive_deletion
        where organization_id = ${organizationId} and account_id is null and finished_at is null)`

    const add = (
      { accountId, epochId, keyId, organizationId }: EpochRef,
      sealedKey: Uint8Array,
      writer: string,
      now: Date,
      closedAt: Date | null
    ) =>
      post(sql`insert into archive_epoch ${
        sql.insert({
          organization_id: organizationId,
          account_id: accountId,
          epoch_id: epochId,
          key_id: keyId,
          sealed_key: sealedKey,
          writer,
          opened_at: now,
          closed_at: closedAt
        })
      }`)

    return Epochs.of({
      begin: Effect.fnUntraced(function*(account, now) {
        // A deletion locks all archives before it begins, and the second statement sees what is committed by then.
        const { found: [found], next: [next] } = yield* Effect.all({
          found: lockArchive(sql, account),
          next: sql<{ epoch: string }>`
            with closed as (
              update archive_epoch set closed_at = ${now} where ${mine(account)} and closed_at is null
            )
            select nextval('archive_number')::text as epoch where not ${isDeleting(account.organizationId)}`
        }, Tenant.together)
        return found === undefined || next === undefined ? null : BigInt(next.epoch)
      }, Effect.orDie),

      open: (ref, sealedKey, writer, now) => add(ref, sealedKey, writer, now, null),

      addClosed: Effect.fnUntraced(function*(ref, sealedKey, now) {
        const [found] = yield* lockArchive(sql, ref)
        if (found === undefined) return false
        const deleting = yield* sql`select 1 where ${isDeleting(ref.organizationId)}`
        if (deleting.length > 0) return false
        yield* add(ref, sealedKey, nobody, now, now)
        return true
      }, Effect.orDie),

      // Shared: without the lock, or for a key share, rows of a replaced writer may be committed after its replacement.
      fence: Effect.fnUntraced(function*(account, epochId) {
        yield* post(lockArchive(sql, account))
        const open = yield* sql`
          select 1 from archive_epoch
          where ${mine(account)} and epoch_id = ${epochId} and closed_at is null
            and not ${isDeleting(account.organizationId)} for share`
        return open.length > 0
      }, Effect.orDie),

      close: (account, epochId, now) =>
        post(sql`
          update archive_epoch set closed_at = ${now}
          where ${mine(account)} and epoch_id = ${epochId} and closed_at is null`),

      sealed: (account, epochIds) =>
        sql<EpochRow>`
          select epoch_id::text as epoch, key_id,
            case when not ${isDeleting(account.organizationId)} then sealed_key end as sealed_key
          from archive_epoch where ${mine(account)} and epoch_id = any(${epochIds}::bigint[])`.pipe(
          Effect.orDie,
          Effect.map((rows) =>
            rows.map((row) => ({ epochId: BigInt(row.epoch), keyId: row.key_id, sealedKey: row.sealed_key }))
          )
        )
    })
  })
)
