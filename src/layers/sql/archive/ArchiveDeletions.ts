import { Effect, Layer } from "effect"
import { SqlClient, type Statement } from "effect/sql"
import type { AccountId } from "../../../domain/accounts/Account.ts"
import type { OrganizationId } from "../../../domain/people/Access.ts"
import { type ArchiveDeletion, ArchiveDeletions, type DeletedRecords } from "../../../ports/archive/ArchiveDeletions.ts"
import type { Due } from "../../../ports/Due.ts"
import * as Tenant from "../../postgres/Tenant.ts"
import { lockArchives } from "./ArchiveLocks.ts"
import { lost } from "./LostCounts.ts"
import { leafOf } from "./PageLeaf.ts"

interface DeletedRows {
  readonly rows: number
}

/** The deletions in SQL. Locks: deletion → organization → archives → rows. */
export const layer = Layer.effect(
  ArchiveDeletions,
  Effect.gen(function*() {
    const sql = yield* SqlClient.SqlClient
    const post = Tenant.post(sql)

    const within = (organizationId: OrganizationId, accountId: AccountId | null): Statement.Fragment =>
      accountId === null
        ? sql`organization_id = ${organizationId}`
        : sql`organization_id = ${organizationId} and account_id = ${accountId}`

    const lock = (organizationId: OrganizationId, accountId: AccountId | null) =>
      post(lockArchives(sql, within(organizationId, accountId)))

    const begin = (organizationId: OrganizationId, accountId: AccountId | null, now: Date) =>
      sql<{ id: string }>`
        insert into archive_deletion (organization_id, account_id, started_at)
        values (${organizationId}, ${accountId}, ${now}) returning id::text as id`.pipe(
        Effect.orDie,
        Effect.map(([made]) => ({ deletion: made?.id ?? "" }))
      )

    const counting = ({ id, organizationId }: ArchiveDeletion) =>
      sql`${lost(sql, organizationId)}, counted as (
          update archive_deletion set pages = archive_deletion.pages + every.pages,
            messages = archive_deletion.messages + every.messages, files = archive_deletion.files + every.files,
            bytes = archive_deletion.bytes + every.bytes
          from every where organization_id = ${organizationId} and id = ${id}
        )
        select rows::integer from every`

    const most = (limit: number) => sql.literal(String(limit))

    const pages = (deletion: ArchiveDeletion, limit: number) =>
      sql<DeletedRows>`
        with gone as (
          delete from archive_page where (organization_id, account_id, chat_id, last_id, page_id) in (
            select organization_id, account_id, chat_id, last_id, page_id from archive_page
            where ${within(deletion.organizationId, deletion.accountId)}
            order by account_id, chat_id, last_id, page_id limit ${most(limit)})
          returning account_id, chat_id, page_id, ${leafOf(sql)} as leaf, 1 as pages, messages, 0 as files, bytes
        ), kept as (
          insert into archive_gone (organization_id, account_id, page_id, leaf, cleanup_id)
          select ${deletion.organizationId}, account_id, page_id, leaf, ${deletion.id}::uuid from gone
          on conflict do nothing
        ), ${counting(deletion)}`

    const tails = (deletion: ArchiveDeletion, limit: number) =>
      sql<DeletedRows>`
        with gone as (
          delete from archive_tail where (organization_id, account_id, tail_id) in (
            select organization_id, account_id, tail_id from archive_tail
            where ${within(deletion.organizationId, deletion.accountId)}
            order by account_id, tail_id limit ${most(limit)})
          returning account_id, chat_id, 0 as pages, (kind = 'messages')::integer as messages, 0 as files,
            length(sealed) as bytes
        ), ${counting(deletion)}`

    const files = (deletion: ArchiveDeletion, limit: number) =>
      sql<DeletedRows>`
        with gone as (
          delete from archive_file where (organization_id, account_id, file_id) in (
            select organization_id, account_id, file_id from archive_file
            where ${within(deletion.organizationId, deletion.accountId)}
            order by account_id, file_id limit ${most(limit)})
          returning account_id, chat_id, 0 as pages, 0 as messages, (state = 'saved')::integer as files, 0 as bytes
        ), ${counting(deletion)}`

    /** Objects to remove from the store. Their keys were sealed by those of epochs, which are gone. */
    const blobs =
      (state: "saved" | "writing") => ({ accountId, organizationId }: ArchiveDeletion, limit: number, now: Date) =>
        sql<DeletedRows>`
        with gone as (
          update archive_blob set key = null, state = 'deleting', at = ${now}
          where (organization_id, account_id, blob_id) in (
            select organization_id, account_id, blob_id from archive_blob
            where ${within(organizationId, accountId)} and state = ${sql.literal(`'${state}'`)}
            order by account_id, messenger_file limit ${most(limit)} for no key update)
          returning 1
        ) select count(*)::integer as rows from gone`

    /** Rows that nothing counts, by their primary key after the account. */
    const uncounted = (table: string, ...key: ReadonlyArray<string>) => (deletion: ArchiveDeletion, limit: number) => {
      const names = sql.literal(["organization_id", "account_id", ...key].join(", "))
      return sql<DeletedRows>`
        with gone as (
          delete from ${sql(table)} where (${names}) in (
            select ${names} from ${sql(table)} where ${within(deletion.organizationId, deletion.accountId)}
            order by ${names} limit ${most(limit)})
          returning 1
        ) select count(*)::integer as rows from gone`
    }

    /** Accounts that still count something, of which nothing is left. */
    const counters = ({ accountId, organizationId }: ArchiveDeletion, limit: number) =>
      accountId !== null ? sql<DeletedRows>`select 0 as rows` : sql<DeletedRows>`
        with emptied as (
          update archive_state set position = null, date = null, qts = null, heard_at = null, archive_messages = 0,
            archive_media = 0, archive_bytes = 0, archive_chats_discovered = 0, archive_chats_selected = 0,
            archive_chats_with_data = 0, archive_chats_complete = 0, archive_chats_review = 0, archive_chats_stopped = 0
          where organization_id = ${organizationId} and account_id in (
            select account_id from archive_state where organization_id = ${organizationId}
              and (position is not null or (archive_messages, archive_media, archive_bytes, archive_chats_discovered,
                archive_chats_selected, archive_chats_with_data, archive_chats_complete, archive_chats_review, archive_chats_stopped)
                <> (0, 0, 0, 0, 0, 0, 0, 0, 0))
            order by account_id limit ${most(limit)} for no key update)
          returning 1
        ) select count(*)::integer as rows from emptied`

    const kinds = [
      // Of the whole archive they still have their keys, sealed to those that its beginning has deleted.
      uncounted("archive_epoch", "epoch_id"),
      blobs("saved"),
      uncounted("archive_change", "chat_id", "message_id", "kind", "edit_date", "mark", "place"),
      uncounted("archive_expiry", "chat_id", "message_id"),
      tails,
      files,
      uncounted("archive_block", "block_id"),
      uncounted("archive_loose", "page_id"),
      pages,
      uncounted("archive_unreadable", "number"),
      uncounted("archive_chat", "chat_id"),
      counters,
      // Few are being written: only the partial index of those that are saved finds some without reading the others.
      blobs("writing")
    ]

    return ArchiveDeletions.of({
      beginAccount: Effect.fnUntraced(function*(organizationId, accountId, now) {
        yield* lock(organizationId, accountId)
        yield* post(sql`
          update archive_epoch set sealed_key = null, shredded_at = ${now}, closed_at = coalesce(closed_at, ${now})
          where ${within(organizationId, accountId)} and sealed_key is not null`)
        return yield* begin(organizationId, accountId, now)
      }),

      beginWhole: Effect.fnUntraced(function*(organizationId, now) {
        yield* lock(organizationId, null)
        yield* post(sql`
          update organization set archive_deletion_started_at = ${now}, archive_deleted_at = null
          where id = ${organizationId}`)
        return yield* begin(organizationId, null, now)
      }),

      due: (limit) =>
        Tenant.directory(sql)(sql<Due>`
          with ranked as (
            select organization_id, id, started_at,
              row_number() over (partition by organization_id order by started_at, id) as place
            from archive_deletion where finished_at is null
          )
          select organization_id as "organizationId", id from ranked
          order by place, started_at limit ${most(limit)}`),

      take: Effect.fnUntraced(function*(organizationId, id) {
        const [found] = yield* sql<{ accountId: AccountId | null }>`
          select account_id as "accountId" from archive_deletion
          where organization_id = ${organizationId} and id = ${id} and finished_at is null
          for no key update skip locked`
        if (found === undefined) return null
        yield* post(sql`select 1 from organization where id = ${organizationId} for no key update`)
        return { organizationId, id, accountId: found.accountId }
      }, Effect.orDie),

      deleteSome: Effect.fnUntraced(function*(deletion, limit, now) {
        for (const deleteKind of kinds) {
          const [gone] = yield* deleteKind(deletion, limit, now)
          if (gone !== undefined && gone.rows > 0) return gone.rows
        }
        return 0
      }, Effect.orDie),

      finish: Effect.fnUntraced(function*({ accountId, id, organizationId }, now) {
        if (accountId === null) {
          yield* post(sql`
            update organization set archive_deleted_at = ${now}, archive_first_record_at = null, storage_used_bytes = 0
            where id = ${organizationId}`)
        }
        const [deleted] = yield* sql<DeletedRecords>`
          update archive_deletion set finished_at = ${now} where organization_id = ${organizationId} and id = ${id}
          returning pages, messages, files, bytes`
        return deleted ?? { pages: 0, messages: 0, files: 0, bytes: 0 }
      }, Effect.orDie)
    })
  })
)
