/** Exports as they are stored: recipes. Each statement needs the transaction of the organization. */
import { Context, type Effect } from "effect"
import type { AccountId, MessengerNames } from "../../domain/accounts/Account.ts"
import type {
  ExportCriteria,
  ExportId,
  PlannedPart,
  StoredExport,
  StoredPart
} from "../../domain/archive/ArchiveExport.ts"
import type { DownloadReport } from "../../domain/archive/ExportDownload.ts"
import type { MeasuredDays } from "../../domain/archive/ExportParts.ts"
import type { Caller, OrganizationId } from "../../domain/people/Access.ts"

/** A page of exports, the newest first. */
export interface ExportQuery {
  readonly after: ExportId | undefined
  readonly limit: number
}

/** An account by what it is called. */
export type NamedAccount = MessengerNames & { readonly id: AccountId; readonly phone_number: string }

/** Exports that can still be downloaded: of the admin, and of all of the organization. */
export interface LiveExports {
  readonly own: number
  readonly all: number
}

/** The result of sending a part to its end. */
export interface SentPart {
  readonly size: number
  readonly sha256: Uint8Array
  readonly unreadable: number
  readonly at: Date
}

/** The admin who downloads. */
export type Downloader = Pick<Caller["Service"], "adminId" | "adminName">

/** Keeps how far a download is, unless it has ended or a later one of the part has begun. */
export type KeepDownload = (report: DownloadReport) => Effect.Effect<void>

/**
 * Law: an export is seen by the admin who made it, and by those who can access every account, as long as they can access
 * all its accounts.
 */
export class ArchiveExports extends Context.Service<ArchiveExports, {
  /** Those of the accounts that the caller can access. */
  accounts(caller: Caller["Service"], ids: ReadonlyArray<AccountId>): Effect.Effect<ReadonlyArray<NamedAccount>>
  /** The records of the criteria as they are now, by account and month, at most `limit` rows. */
  months(
    organizationId: OrganizationId,
    criteria: ExportCriteria,
    limit: number
  ): Effect.Effect<ReadonlyArray<MeasuredDays>>
  /** The same of one account, by day. */
  days(
    organizationId: OrganizationId,
    criteria: ExportCriteria,
    of: Pick<PlannedPart, "accountId" | "firstDay" | "lastDay">
  ): Effect.Effect<ReadonlyArray<MeasuredDays>>
  /** Locks the organization's exports for the rest of the transaction, and counts. */
  live(caller: Caller["Service"], now: Date): Effect.Effect<LiveExports>
  add(
    organizationId: OrganizationId,
    made: Omit<StoredExport, "id">,
    parts: ReadonlyArray<PlannedPart>
  ): Effect.Effect<ExportId>
  /** One more than `limit` where more follow; null where there is none to start after. */
  list(caller: Caller["Service"], query: ExportQuery): Effect.Effect<ReadonlyArray<StoredExport> | null>
  find(caller: Caller["Service"], id: ExportId): Effect.Effect<StoredExport | null>
  parts(organizationId: OrganizationId, id: ExportId): Effect.Effect<ReadonlyArray<StoredPart>>
  /** Keeps what a part was when it was sent to its end. */
  sent(
    organizationId: OrganizationId,
    id: ExportId,
    number: number,
    by: Downloader,
    part: SentPart
  ): Effect.Effect<void>
  /** Begins a download, which is the part's latest from its first report on. */
  download(organizationId: OrganizationId, id: ExportId, number: number, by: Downloader): Effect.Effect<KeepDownload>
}>()("org-security-console/ports/archive/ArchiveExports") {}
