import { Effect, Layer } from "effect"
import { SqlClient } from "effect/sql"
import { sealedSize } from "../../../domain/archive/Blob.ts"
import { ArchiveBlobs, type BlobDue } from "../../../ports/archive/ArchiveBlobs.ts"
import type { ArchivedAccount } from "../../../ports/archive/Epochs.ts"
import * as Tenant from "../../postgres/Tenant.ts"

/** The rows of stored contents in SQL. */
export const layer = Layer.effect(
  ArchiveBlobs,
  Effect.gen(function*() {
    const sql = yield* SqlClient.SqlClient
    const post = Tenant.post(sql)

    const mine = ({ accountId, organizationId }: ArchivedAccount) =>
      sql`organization_id = ${organizationId} and account_id = ${accountId}`
    const one = (account: ArchivedAccount, blobId: string) => sql`${mine(account)} and blob_id = ${blobId}::uuid`

    return ArchiveBlobs.of({
      saved: (account, messengerFile) =>
        sql<{ blob: string }>`
          select blob_id::text as blob from archive_blob
          where ${mine(account)} and messenger_file = ${messengerFile} and state = 'saved'`.pipe(
          Effect.orDie,
          Effect.map(([row]) => row?.blob ?? null)
        ),

      begin: ({ accountId, organizationId }, { blobId, bytes, epochId, messengerFile, sealedKey }, writer, now) =>
        post(sql`insert into archive_blob ${
          sql.insert({
            organization_id: organizationId,
            account_id: accountId,
            blob_id: blobId,
            messenger_file: messengerFile,
            epoch_id: epochId,
            key: sealedKey,
            state: "writing",
            plain_bytes: bytes,
            stored_bytes: sealedSize(bytes),
            writer,
            at: now
          })
        }`),

      renew: (account, blobId, now) =>
        sql`
          update archive_blob set at = ${now} where ${one(account, blobId)} and state = 'writing' returning 1`.pipe(
          Effect.orDie,
          Effect.map((rows) => rows.length > 0)
        ),

      finish: (account, { blobId, lockedUntil, sha256, version }, now) =>
        sql`
          with whole as (
            update archive_blob set state = 'saved', sha256 = ${sha256}, version = ${version},
              locked_until = ${lockedUntil}, at = ${now}
            where ${one(account, blobId)} and state = 'writing' and key is not null returning stored_bytes
          ), counted as (
            update archive_state set archive_bytes = archive_bytes + whole.stored_bytes from whole
            where ${mine(account)}
          )
          select 1 from whole`.pipe(
          Effect.orDie,
          Effect.map((rows) => rows.length > 0)
        ),

      attach: (account, fileId, blobId, now) =>
        sql`
          with filed as (
            update archive_file set blob_id = ${blobId}::uuid, state = 'saved', error = null, reason = null, at = ${now}
            where ${mine(account)} and file_id = ${fileId}::uuid and state in ('pending', 'failed')
            returning chat_id
          ), chats as (
            update archive_chat set files = files + 1 from filed
            where ${mine(account)} and archive_chat.chat_id = filed.chat_id
          ), accounts as (
            update archive_state set archive_media = archive_media + 1 from filed where ${mine(account)}
          )
          select 1 from filed`.pipe(
          Effect.orDie,
          Effect.map((rows) => rows.length > 0)
        ),

      due: (before, now, limit) =>
        Tenant.directory(sql)(sql<BlobDue>`
          select organization_id as "organizationId", account_id::text as "accountId", blob_id::text as "blobId",
            version, state
          from archive_blob
          where state <> 'saved' and greatest(at, locked_until) <= ${now}
            and (at <= ${before} or (state = 'deleting' and sha256 is not null))
          order by greatest(at, locked_until) limit ${sql.literal(String(limit))}`),

      abandon: (blob, before, now) =>
        post(sql`
          update archive_blob set state = 'deleting', key = null, at = ${now}
          where ${one(blob, blob.blobId)} and state = 'writing' and at <= ${before}`),

      leave: (blob, { lockedUntil, version }, now) =>
        post(sql`
          update archive_blob set state = 'deleting', key = null, version = ${version}, locked_until = ${lockedUntil},
            at = ${now}
          where ${one(blob, blob.blobId)} and state in ('writing', 'deleting')`),

      forget: (blob) =>
        post(sql`delete from archive_blob where ${one(blob, blob.blobId)} and state in ('writing', 'deleting')`)
    })
  })
)
