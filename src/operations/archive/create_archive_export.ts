import { Effect, Schema } from "effect"
import { planExport } from "../../archive/ExportPlan.ts"
import { accountName } from "../../domain/accounts/Account.ts"
import {
  ArchiveExport,
  archiveExport,
  exportDetails,
  ExportFormat,
  exportLifetime,
  exportsOfAdmin,
  exportsOfOrganization,
  neverSent,
  NewExportCriteria
} from "../../domain/archive/ArchiveExport.ts"
import { distinctAccounts, objectOf } from "../../domain/archive/ArchiveHold.ts"
import { largestPart, leastPartLimit, maxExportParts } from "../../domain/archive/ExportParts.ts"
import { ArchiveClosed, ArchiveEmpty, ParameterInvalid, ResourceMissing, TooManyExports } from "../../domain/Failure.ts"
import { isArchiveOpen } from "../../domain/organization/Organization.ts"
import { archiveReaders } from "../../domain/people/Access.ts"
import * as Operation from "../../kernel/Operation.ts"
import { ArchiveExports } from "../../ports/archive/ArchiveExports.ts"
import { Organizations } from "../../ports/organization/Organizations.ts"
import * as samples from "./exports.samples.ts"

const invalid = (message: string) => new ParameterInvalid({ param: "criteria", message: `criteria: ${message}` })

export const createArchiveExport = Operation.write(
  "create_archive_export",
  {
    summary: "Make an export of archived messages, whose parts can then be downloaded for 7 days.",
    description:
      "It needs no archive password: that is for download_archive_export_part, which makes the files while it sends them. Nothing of an export is stored but what it holds. A part is of one account and at most a month, about 2 GiB or 200,000 messages; a single day is never divided. What is archived later is not in it; what is deleted until a part is downloaded is missing there, and its manifest says so.",
    method: "POST",
    path: "/v1/archive/exports",
    toolset: "archive",
    scope: "archive:read",
    roles: archiveReaders,
    archive: true,
    idempotent: false,
    body: {
      criteria: NewExportCriteria.annotateKey({ description: "What it holds." }),
      format: ExportFormat.annotateKey({
        description:
          "The files: `json` in the shape of the messenger's own export, `html` pages to read, `rsmf` for review platforms, `eml` for mail archives."
      }),
      media: Schema.optionalKey(Schema.Boolean).annotateKey({
        description: "Whether it holds the archived files; true by default."
      }),
      part_bytes: Schema.optionalKey(
        Schema.Int.check(Schema.isBetween({ minimum: leastPartLimit, maximum: largestPart }))
      ).annotateKey({
        description: "About how many bytes a part has at most, for slow connections; 2 GiB by default."
      })
    },
    success: ArchiveExport,
    sample: samples.createArchiveExport,
    failures: [ParameterInvalid, ResourceMissing, ArchiveClosed, ArchiveEmpty, TooManyExports],
    journal: { action: "archive_export.created", target: "archive_export" }
  },
  Effect.fnUntraced(function*({ criteria, format, media = true, part_bytes = largestPart }, { caller, now }) {
    const { organizationId } = caller
    const accountIds = distinctAccounts(criteria.account_ids).toSorted()
    const { chat_ids: chatIds = null, since = null, until = null } = criteria
    if (chatIds !== null && accountIds.length > 1) {
      return yield* invalid("there is no such chat, chat_ids are those of one account.")
    }
    if (since !== null && until !== null && until < since) return yield* invalid("until is before since.")
    const exports = yield* ArchiveExports
    const found = yield* exports.accounts(caller, accountIds)
    if (found.length < accountIds.length) return yield* new ResourceMissing({ param: "criteria" })
    if (!isArchiveOpen(yield* (yield* Organizations).facts(caller), now)) return yield* new ArchiveClosed({})
    const live = yield* exports.live(caller, now)
    if (live.own >= exportsOfAdmin || live.all >= exportsOfOrganization) return yield* new TooManyExports({})
    const chosen = {
      accountIds,
      chatIds: chatIds === null ? null : [...new Set<string>(chatIds)].map((chat) => BigInt(chat)),
      since,
      until,
      media
    }
    const parts = yield* planExport(organizationId, chosen, { format, bytes: part_bytes })
    if (parts === null) {
      return yield* invalid(`it has more than ${maxExportParts} parts, name fewer accounts or days.`)
    }
    const messages = parts.reduce((sum, part) => sum + part.messages, 0)
    if (messages === 0) return yield* new ArchiveEmpty({})
    const names = new Map(found.map((account) => [account.id, accountName(account)] as const))
    const made = {
      ...chosen,
      accountNames: accountIds.map((id) => names.get(id) ?? id),
      format,
      messages,
      files: parts.reduce((sum, part) => sum + part.files, 0),
      parts: parts.length,
      createdBy: caller.adminId,
      createdAt: now,
      expiresAt: new Date(now.getTime() + exportLifetime)
    }
    const id = yield* exports.add(organizationId, made, parts)
    const shown = parts.map((part, index) => ({ ...part, ...neverSent, number: index + 1, download: null }))
    return Operation.changed(archiveExport({ id, ...made }, shown, now), exportDetails(made), objectOf(id, accountIds))
  })
)
