import { Effect, Schema } from "effect"
import {
  ArchiveHold,
  archiveHold,
  distinctAccounts,
  HoldDay,
  HoldName,
  NamedAccounts,
  objectOf
} from "../../domain/archive/ArchiveHold.ts"
import { ParameterInvalid, ResourceMissing } from "../../domain/Failure.ts"
import { superadmins } from "../../domain/people/Access.ts"
import * as Operation from "../../kernel/Operation.ts"
import { ArchiveHolds } from "../../ports/archive/ArchiveHolds.ts"
import * as samples from "./deleting.samples.ts"

export const placeArchiveHold = Operation.write(
  "place_archive_hold",
  {
    summary: "Keep archived records from being deleted, for instance those of a case.",
    description:
      "Cleanups, retention and deletions that touch its days and accounts are refused, and those that run stop, until the owner releases it. Messages that are still to come are held too, where its days are.",
    method: "POST",
    path: "/v1/archive/holds",
    toolset: "archive",
    scope: "accounts:write",
    roles: superadmins,
    idempotent: false,
    body: {
      name: HoldName.annotateKey({ description: "The hold's name, such as that of the case." }),
      account_ids: Schema.optionalKey(NamedAccounts).annotateKey({
        description: "The accounts, at most 100; all by default, those to come among them."
      }),
      since: Schema.optionalKey(HoldDay).annotateKey({
        description: "The first day in UTC, such as 2026-01-31; the beginning by default."
      }),
      until: Schema.optionalKey(HoldDay).annotateKey({
        description: "The last day in UTC, not before `since`; no end by default."
      })
    },
    success: ArchiveHold,
    sample: samples.placeArchiveHold,
    failures: [ParameterInvalid, ResourceMissing],
    journal: { action: "archive_hold.placed", target: "archive_hold" }
  },
  Effect.fnUntraced(function*({ account_ids, name, since = null, until = null }, { caller, now }) {
    if (since !== null && until !== null && until < since) {
      return yield* new ParameterInvalid({ param: "until", message: "until: the last day is not before `since`." })
    }
    const holds = yield* ArchiveHolds
    const accountIds = account_ids === undefined ? null : distinctAccounts(account_ids)
    if (!(yield* holds.reaches(caller, accountIds))) return yield* new ResourceMissing({ param: "account_ids" })
    const hold = { name, accountIds, since, until, placedBy: caller.adminId, placedAt: now }
    const id = yield* holds.add(caller.organizationId, hold)
    return Operation.changed(
      archiveHold({ id, ...hold, releasedAt: null }),
      {
        name,
        ...(accountIds === null ? {} : { accounts: accountIds.length }),
        ...(since === null ? {} : { since }),
        ...(until === null ? {} : { until })
      },
      objectOf(id, accountIds)
    )
  })
)
