/** The shredding of contents that no file has any more, which cleanups and redactions share. */
import type { SqlClient, Statement } from "effect/sql"
import type { ArchivedAccount } from "../../../ports/archive/Epochs.ts"

/**
 * Expressions: the keys of those contents that no file names are deleted, and their objects are removed afterwards; the
 * account counts it, and `size` has the bytes.
 */
export const shredded = (
  sql: SqlClient.SqlClient,
  { accountId, organizationId }: ArchivedAccount,
  blobs: ReadonlyArray<string>,
  now: Date
): Statement.Fragment =>
  sql`
      freed as (
        update archive_blob set key = null, state = 'deleting', at = ${now}
        where organization_id = ${organizationId} and account_id = ${accountId}
          and blob_id = any(${blobs}::uuid[]) and state <> 'deleting' and not exists (
            select 1 from archive_file
            where archive_file.organization_id = archive_blob.organization_id
              and archive_file.account_id = archive_blob.account_id and archive_file.blob_id = archive_blob.blob_id)
        returning stored_bytes
      ), size as (
        select coalesce(sum(stored_bytes), 0)::bigint as bytes from freed
      ), accounts as (
        update archive_state set archive_bytes = greatest(0, archive_bytes - size.bytes) from size
        where organization_id = ${organizationId} and account_id = ${accountId}
      )`
