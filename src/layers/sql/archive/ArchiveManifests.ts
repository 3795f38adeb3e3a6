import { Effect, Layer } from "effect"
import { SqlClient, type Statement } from "effect/sql"
import type { AccountId } from "../../../domain/accounts/Account.ts"
import type { PageFacts } from "../../../domain/archive/Manifest.ts"
import type { OrganizationId } from "../../../domain/people/Access.ts"
import { ArchiveManifests, type SignedUpTo, type StoredManifest } from "../../../ports/archive/ArchiveManifests.ts"
import type { ArchivedAccount } from "../../../ports/archive/Epochs.ts"
import * as Tenant from "../../postgres/Tenant.ts"
import { isAfter } from "./AccountCursor.ts"
import { holdArchive } from "./ArchiveLocks.ts"

/** 64-bit numbers travel as text. */
type Texts<A> = { readonly [Name in keyof A]: A[Name] extends bigint ? string : A[Name] }

type PageRow = Texts<PageFacts>

/** The columns that a manifest is read from. */
export const manifestColumns =
  `account_id as "accountId", sequence::text as sequence, round::text as round, at, after_page::text as "afterPage",
  last_page::text as "lastPage", pages, root, hash`

export type ManifestRow = Texts<StoredManifest>

const pageOf = <A extends PageRow>(row: A) => ({
  ...row,
  pageId: BigInt(row.pageId),
  chatId: BigInt(row.chatId),
  firstId: BigInt(row.firstId),
  lastId: BigInt(row.lastId)
})

export const manifestOf = (row: ManifestRow): StoredManifest => ({
  ...row,
  sequence: BigInt(row.sequence),
  round: BigInt(row.round),
  afterPage: BigInt(row.afterPage),
  lastPage: BigInt(row.lastPage)
})

interface CountRow {
  readonly found: number
}

/** The manifests in SQL. */
export const layer = Layer.effect(
  ArchiveManifests,
  Effect.gen(function*() {
    const sql = yield* SqlClient.SqlClient
    const post = Tenant.post(sql)

    const facts = sql.literal(
      `page_id::text as "pageId", chat_id::text as "chatId", first_id::text as "firstId", last_id::text as "lastId",
      to_char(day, 'YYYY-MM-DD') as day, first_at as "firstAt", last_at as "lastAt", messages::integer as messages, bytes,
      ids, digest, kind`
    )
    const columns = sql.literal(manifestColumns)

    const mine = ({ accountId, organizationId }: ArchivedAccount) =>
      sql`organization_id = ${organizationId} and account_id = ${accountId}`
    const most = (limit: number) => sql.literal(String(limit))
    const counted = (statement: Statement.Statement<CountRow>) =>
      Effect.map(Effect.orDie(statement), ([row]) => row?.found ?? 0)
    const accounts = (statement: Statement.Statement<{ readonly id: AccountId }>) =>
      Effect.map(Effect.orDie(statement), (rows) => rows.map(({ id }) => id))

    return ArchiveManifests.of({
      due: (endedBy) =>
        Effect.map(
          Tenant.directory(sql)(sql<{ id: OrganizationId }>`
            select organization.id from organization
            left join archive_round on archive_round.organization_id = organization.id
            where archive_first_record_at is not null and (ended_at is null or ended_at <= ${endedBy})
            order by organization.id`),
          (rows) => rows.map(({ id }) => id)
        ),

      nextRound: (organizationId) =>
        sql<{ round: string }>`
          select (round + 1)::text as round from archive_round where organization_id = ${organizationId} for update`
          .pipe(
            Effect.orDie,
            Effect.map(([row]) => BigInt(row?.round ?? 1))
          ),

      uncovered: (organizationId, after, limit) =>
        accounts(sql`
          select account.id from account
          where account.organization_id = ${organizationId} and ${isAfter(sql, after)}
            and (select max(page_id) from archive_page
              where archive_page.organization_id = ${organizationId} and archive_page.account_id = account.id)
              > coalesce((select max(last_page) from archive_manifest
                where archive_manifest.organization_id = ${organizationId}
                  and archive_manifest.account_id = account.id), 0)
          order by account.id limit ${most(limit)}`),

      lock: (account) => holdArchive(sql, account),

      newest: (account) =>
        sql<ManifestRow>`
          select ${columns} from archive_manifest where ${mine(account)}
          order by archive_manifest.sequence desc limit 1`.pipe(
          Effect.orDie,
          Effect.map(([row]) => row === undefined ? null : manifestOf(row))
        ),

      pages: (account, after, limit) =>
        sql<PageRow>`
          select ${facts} from archive_page where ${mine(account)} and page_id > ${after}
          order by page_id limit ${most(limit)}`.pipe(Effect.orDie, Effect.map((rows) => rows.map(pageOf))),

      gone: (account, { after, upTo }) =>
        sql<{ page: string; leaf: Uint8Array }>`
          select page_id::text as page, leaf from archive_gone
          where ${mine(account)} and page_id > ${after} and page_id <= ${upTo}`.pipe(
          Effect.orDie,
          Effect.map((rows) => rows.map(({ leaf, page }) => ({ pageId: BigInt(page), leaf })))
        ),

      add: (organizationId, manifest) =>
        post(sql`insert into archive_manifest ${
          sql.insert({
            organization_id: organizationId,
            account_id: manifest.accountId,
            sequence: manifest.sequence,
            round: manifest.round,
            at: manifest.at,
            after_page: manifest.afterPage,
            last_page: manifest.lastPage,
            pages: manifest.pages,
            root: manifest.root,
            hash: manifest.hash
          })
        }`),

      ofRound: (organizationId, round) =>
        sql<ManifestRow>`
          select ${columns} from archive_manifest
          where organization_id = ${organizationId} and round = ${round}
          order by archive_manifest.account_id, archive_manifest.sequence`.pipe(
          Effect.orDie,
          Effect.map((rows) => rows.map(manifestOf))
        ),

      endRound: (organizationId, round, now) =>
        post(sql`
          insert into archive_round (organization_id, round, ended_at) values (${organizationId}, ${round}, ${now})
          on conflict (organization_id) do update set round = excluded.round, ended_at = excluded.ended_at`),

      covered: (organizationId, after, limit) =>
        accounts(sql`
          select account.id from account
          where account.organization_id = ${organizationId} and ${isAfter(sql, after)} and (exists (
              select 1 from archive_manifest
              where archive_manifest.organization_id = ${organizationId} and archive_manifest.account_id = account.id)
            or exists (
              select 1 from archive_page
              where archive_page.organization_id = ${organizationId} and archive_page.account_id = account.id))
          order by account.id limit ${most(limit)}`),

      after: (account, sequence, limit) =>
        sql<ManifestRow>`
          select ${columns} from archive_manifest
          where ${mine(account)} and archive_manifest.sequence > ${sequence}
          order by archive_manifest.sequence limit ${most(limit)}`.pipe(
          Effect.orDie,
          Effect.map((rows) => rows.map(manifestOf))
        ),

      compared: (account, { after, upTo }, limit) =>
        sql<PageRow & { readonly isWhole: boolean }>`
          select ${facts}, octet_length(sealed) = bytes and pg_catalog.sha256(sealed) = digest as "isWhole"
          from archive_page
          where ${mine(account)} and page_id > ${after} and page_id <= ${upTo}
          order by page_id limit ${most(limit)}`.pipe(Effect.orDie, Effect.map((rows) => rows.map(pageOf))),

      countAfter: (account, page) =>
        counted(sql`
          select count(*)::integer as found from archive_page where ${mine(account)} and page_id > ${page}`),

      rounds: (organizationId, accountId, after, limit) =>
        sql<{ round: string; root: string; sequence: string }>`
          select details->>'round' as round, details->>'root' as root, sequence::text as sequence from journal_event
          where organization_id = ${organizationId} and action = 'archive.manifested' and outcome = 'done'
            and (details->>'round')::bigint > ${after}
            and (${accountId}::uuid is null or (details->>'round')::bigint in (
              select round from archive_manifest
              where archive_manifest.organization_id = ${organizationId} and account_id = ${accountId}::uuid))
          order by (details->>'round')::bigint limit ${most(limit)}`.pipe(
          Effect.orDie,
          Effect.map((rows) =>
            rows.map(({ root, round, sequence }) => ({ round: BigInt(round), root, sequence: Number(sequence) }))
          )
        ),

      unjournaled: (organizationId) =>
        counted(sql`
          select count(*)::integer as found from archive_manifest
          where organization_id = ${organizationId}
            and round <= coalesce((select round from archive_round where organization_id = ${organizationId}), 0)
            and round not in (
              select (details->>'round')::bigint from journal_event
              where organization_id = ${organizationId} and action = 'archive.manifested' and outcome = 'done')`),

      unexplained: (organizationId) =>
        counted(sql`
          with event as (
            select action, coalesce(details->>'deletion', details->>'redaction', target_id) as id, target_id,
              (details->>'pages')::bigint as pages
            from journal_event
            where organization_id = ${organizationId} and outcome = 'done'
              and action in ('account.deleted', 'archive.deleted', 'archive.deletion_started', 'archive.redacted',
                'cleanup.cancelled', 'cleanup.confirmed', 'cleanup.failed', 'cleanup.finished')
          ), begun as (
            select id, max(target_id) filter (where action = 'account.deleted') as account, max(pages) as pages
            from event
            where action in ('account.deleted', 'archive.deletion_started', 'archive.redacted', 'cleanup.confirmed')
            group by id
          ), ended as (
            select id, max(pages) as pages from event
            where action in ('archive.deleted', 'cleanup.cancelled', 'cleanup.failed', 'cleanup.finished') group by id
          ), gone as (
            select cleanup_id::text as id, count(*) as pages, array_agg(distinct account_id::text) as accounts
            from archive_gone where organization_id = ${organizationId} group by cleanup_id
          )
          select coalesce(sum(case
            when begun.id is null or begun.account is not null and gone.accounts <> array[begun.account] then gone.pages
            else greatest(0, gone.pages - coalesce(least(begun.pages, ended.pages), gone.pages))
          end), 0)::integer as found
          from gone left join begun on begun.id = gone.id left join ended on ended.id = gone.id`),

      signedUpTo: (organizationId) =>
        sql<{ number: string; sequence: string; at: Date }>`
          select number::text as number, sequence::text as sequence, at from journal_checkpoint
          where organization_id = ${organizationId} order by sequence desc limit 1`.pipe(
          Effect.orDie,
          Effect.map(([row]): SignedUpTo | null =>
            row === undefined ? null : { number: Number(row.number), sequence: Number(row.sequence), at: row.at }
          )
        )
    })
  })
)
