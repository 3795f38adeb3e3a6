import { Duration, Effect, Layer } from "effect"
import { SecureRandom } from "effect/crypto"
import { SqlClient, type Statement } from "effect/sql"
import type { AccountId } from "../../../domain/accounts/Account.ts"
import { endedExportKept, type ExportCriteria, ExportId } from "../../../domain/archive/ArchiveExport.ts"
import { before, now } from "../../../domain/Moments.ts"
import { type Caller, canAccessEveryAccount, type OrganizationId } from "../../../domain/people/Access.ts"
import { ArchiveExports, type NamedAccount } from "../../../ports/archive/ArchiveExports.ts"
import * as Tenant from "../../postgres/Tenant.ts"
import { canAccess } from "../accounts/AccountAccess.ts"
import { isAccessible } from "./AccessToAll.ts"
import { exportOf, type ExportRow, type Measured, measuredOf, partOf, type PartRow } from "./ExportRows.ts"

/** The exports in SQL. */
export const layer = Layer.effect(
  ArchiveExports,
  Effect.gen(function*() {
    const sql = yield* SqlClient.SqlClient
    const random = yield* SecureRandom.SecureRandom
    const post = Tenant.post(sql)

    const columns = sql.literal(
      `id::text as id, account_ids::text[] as "accountIds", account_names as "accountNames",
      chat_ids::text[] as "chatTexts", to_char(since, 'YYYY-MM-DD') as since, to_char(until, 'YYYY-MM-DD') as until,
      format, media, messages::text as messages, files::text as files, parts, created_by::text as "createdBy",
      created_at as "createdAt", expires_at as "expiresAt"`
    )

    const seenBy = (caller: Caller["Service"], id: Statement.Fragment) =>
      sql`organization_id = ${caller.organizationId} and ${id}
        and ${canAccessEveryAccount(caller.role) ? sql`true` : sql`created_by = ${caller.adminId}`}
        and ${isAccessible(sql, caller, sql`archive_export.account_ids`)}`

    /** Sums of the accounts' records; `period` is what the days of a row share. */
    const measure = (
      organizationId: OrganizationId,
      { chatIds, media, since, until }: ExportCriteria,
      accountIds: ReadonlyArray<AccountId>,
      period: "day" | "month",
      limit: number
    ) => {
      const matches = sql.and([
        sql`organization_id = ${organizationId}`,
        sql`account_id = any(${accountIds}::uuid[])`,
        ...(chatIds === null ? [] : [sql`chat_id = any(${chatIds}::bigint[])`]),
        ...(since === null ? [] : [sql`day >= ${since}::date`]),
        ...(until === null ? [] : [sql`day <= ${until}::date`])
      ])
      const files = sql`
        union all
        select account_id, day, chat_id, 0, 1, 0, coalesce((
          select plain_bytes from archive_blob
          where archive_blob.organization_id = archive_file.organization_id
            and archive_blob.account_id = archive_file.account_id and archive_blob.blob_id = archive_file.blob_id), 0)
        from archive_file where ${matches} and state = 'saved'`
      return Effect.map(
        sql<Measured>`
          select account_id as "accountId", to_char(min(day), 'YYYY-MM-DD') as "firstDay",
            to_char(max(day), 'YYYY-MM-DD') as "lastDay", sum(messages)::text as messages,
            (count(distinct (chat_id, day)) filter (where messages > 0))::text as "chatDays",
            sum(files)::text as files, sum(bytes)::text as "pageBytes", sum(file_bytes)::text as "fileBytes"
          from (
            select account_id, day, chat_id, messages::bigint as messages, 0::bigint as files, bytes::bigint as bytes,
              0::bigint as file_bytes
            from archive_page where ${matches} and kind = 'messages'
            union all
            select account_id, day, chat_id, 1, 0, length(sealed), 0
            from archive_tail where ${matches} and kind = 'messages'
            ${media ? files : sql``}
          ) as counted
          group by account_id, date_trunc(${sql.literal(`'${period}'`)}, day)
          order by account_id, min(day) limit ${sql.literal(String(limit))}`,
        (rows) => rows.map(measuredOf)
      ).pipe(Effect.orDie)
    }

    return ArchiveExports.of({
      accounts: (caller, ids) =>
        Effect.orDie(sql<NamedAccount>`
          select account.id, phone_number, first_name, last_name, username from account
          where account.organization_id = ${caller.organizationId} and account.id = any(${ids}::uuid[])
            and ${canAccess(sql, caller)}`),

      months: (organizationId, criteria, limit) =>
        measure(organizationId, criteria, criteria.accountIds, "month", limit),

      days: (organizationId, criteria, { accountId, firstDay, lastDay }) =>
        measure(organizationId, { ...criteria, since: firstDay, until: lastDay }, [accountId], "day", 31),

      live: ({ adminId, organizationId }, now) =>
        Effect.andThen(
          Tenant.takeTurn(sql, "archive_export", organizationId, "alone"),
          sql<{ readonly own: number; readonly all: number }>`
            select count(*)::integer as all, (count(*) filter (where created_by = ${adminId}))::integer as own
            from archive_export where organization_id = ${organizationId} and expires_at > ${now}`
        ).pipe(Effect.orDie, Effect.map(([row]) => row ?? { own: 0, all: 0 })),

      add: Effect.fnUntraced(function*(organizationId, made, parts) {
        const id = ExportId.make(yield* random.uuidV7())
        yield* post(sql`
          insert into archive_export (organization_id, id, account_ids, account_names, chat_ids, since, until, format,
            media, messages, files, parts, created_by, created_at, expires_at)
          values (${organizationId}, ${id}, ${made.accountIds}::uuid[], ${made.accountNames}::text[],
            ${made.chatIds}::bigint[], ${made.since}::date, ${made.until}::date, ${made.format}, ${made.media},
            ${made.messages}::bigint, ${made.files}::bigint, ${made.parts}, ${made.createdBy}::uuid, ${made.createdAt},
            ${made.expiresAt})`)
        yield* post(sql`
          insert into archive_export_part (organization_id, export_id, number, account_id, first_day, last_day, messages,
            files, bytes, last_page)
          select ${organizationId}, ${id}::uuid, part.*, coalesce((
              select max(page_id) from archive_page
              where archive_page.organization_id = ${organizationId} and archive_page.account_id = part.account_id), 0)
          from unnest(
            ${parts.map((_, index) => index + 1)}::integer[], ${parts.map(({ accountId }) => accountId)}::uuid[],
            ${parts.map(({ firstDay }) => firstDay)}::date[], ${parts.map(({ lastDay }) => lastDay)}::date[],
            ${parts.map(({ messages }) => messages)}::bigint[], ${parts.map(({ files }) => files)}::bigint[],
            ${parts.map(({ bytes }) => bytes)}::bigint[]
          ) as part (number, account_id, first_day, last_day, messages, files, bytes)`)
        return id
      }, Effect.orDie),

      list: Effect.fnUntraced(function*(caller, { after, limit }) {
        const [cursor] = after === undefined ? [] : yield* sql`
          select 1 from archive_export where ${seenBy(caller, sql`id = ${after}`)}`
        if (after !== undefined && cursor === undefined) return null
        const rows = yield* sql<ExportRow>`
          select ${columns} from archive_export
          where ${seenBy(caller, after === undefined ? sql`true` : sql`id < ${after}`)}
          order by archive_export.id desc limit ${sql.literal(String(limit + 1))}`
        return rows.map(exportOf)
      }, Effect.orDie),

      find: (caller, id) =>
        sql<ExportRow>`select ${columns} from archive_export where ${seenBy(caller, sql`id = ${id}`)}`.pipe(
          Effect.orDie,
          Effect.map(([row]) => row === undefined ? null : exportOf(row))
        ),

      parts: (organizationId, id) =>
        sql<PartRow>`
          select number, account_id as "accountId", to_char(first_day, 'YYYY-MM-DD') as "firstDay",
            to_char(last_day, 'YYYY-MM-DD') as "lastDay", part.messages::text as messages, part.files::text as files,
            part.bytes::text as bytes, last_page::text as "lastPage", size::text as size, sha256, sent_at as "sentAt",
            sent_by::text as "sentBy", sent_by_name as "sentByName", unreadable,
            download.admin_id::text as "downloadBy", download.admin_name as "downloadByName",
            download.started_at as "startedAt", download.at, download.bytes::text as "downloadBytes",
            download.messages::text as "downloadMessages", download.files::text as "downloadFiles",
            download.ended as "end"
          from archive_export_part as part
          left join archive_export_download as download using (organization_id, export_id, number)
          where organization_id = ${organizationId} and export_id = ${id}
          order by number`.pipe(Effect.orDie, Effect.map((rows) => rows.map(partOf))),

      sent: (organizationId, id, number, { adminId, adminName }, { at, sha256, size, unreadable }) =>
        post(sql`
          update archive_export_part set size = ${size}::bigint, sha256 = ${sha256}, sent_at = ${at},
            sent_by = ${adminId}::uuid, sent_by_name = ${adminName}, unreadable = ${unreadable}
          where organization_id = ${organizationId} and export_id = ${id} and number = ${number}`),

      download: Effect.fnUntraced(function*(organizationId, exportId, number, { adminId, adminName }) {
        const id = yield* random.uuidV7()
        const startedAt = yield* now
        return ({ at, bytes, end, files, messages }) =>
          post(sql`
            insert into archive_export_download as kept (organization_id, export_id, number, id, admin_id, admin_name,
              started_at, at, bytes, messages, files, ended)
            select organization_id, export_id, number, ${id}::uuid, ${adminId}::uuid, ${adminName}, ${startedAt}, ${at},
              ${bytes}::bigint, ${messages}::bigint, ${files}::bigint, ${end}
            from archive_export_part
            where organization_id = ${organizationId} and export_id = ${exportId} and number = ${number}
            on conflict (organization_id, export_id, number) do update set id = excluded.id,
              admin_id = excluded.admin_id, admin_name = excluded.admin_name, started_at = excluded.started_at,
              at = excluded.at, bytes = excluded.bytes, messages = excluded.messages, files = excluded.files,
              ended = excluded.ended
            where (kept.started_at, kept.id) < (excluded.started_at, excluded.id)
              or kept.id = excluded.id and kept.ended is null`)
      })
    })
  })
)

/** Deletes the exports that ended long ago. */
export const sweep = Effect.gen(function*() {
  const sql = yield* SqlClient.SqlClient
  const forgotten = before(yield* now, Duration.millis(endedExportKept))
  yield* Tenant.directory(sql)(sql`delete from archive_export where expires_at < ${forgotten}`)
})
