import { Effect, Schema } from "effect"
import { verify } from "../../archive/Verification.ts"
import { AccountId } from "../../domain/accounts/Account.ts"
import { ArchiveVerification, readPlace, VerificationCursor } from "../../domain/archive/Verification.ts"
import { ParameterInvalid, ResourceMissing } from "../../domain/Failure.ts"
import { superadmins } from "../../domain/people/Access.ts"
import * as Operation from "../../kernel/Operation.ts"
import { Accounts } from "../../ports/accounts/Accounts.ts"
import { VerificationTurns } from "../../ports/archive/VerificationTurns.ts"
import * as samples from "./deleting.samples.ts"

export const verifyArchive = Operation.read(
  "verify_archive",
  {
    summary: "Compare the archive with the manifests that the signed journal covers.",
    description:
      "A page that was removed, changed or added behind the service's back is found; deletions by the service are journaled, and no fault. It needs no password, as it reads sealed pages. One call compares about 4,000 pages or 256 MiB: go on with its `cursor` until `complete`, and add up the counts. New pages are covered once a day. An organization has one such call at a time.",
    method: "POST",
    path: "/v1/archive/verify",
    toolset: "archive",
    scope: "archive:read",
    roles: superadmins,
    whole: true,
    body: {
      account_id: Schema.optionalKey(AccountId).annotateKey({ description: "Only this account; all by default." }),
      cursor: Schema.optionalKey(VerificationCursor).annotateKey({
        description: "The cursor of the call before, with the same account_id."
      })
    },
    success: ArchiveVerification,
    sample: samples.verifyArchive,
    failures: [ParameterInvalid, ResourceMissing]
  },
  Effect.fnUntraced(function*({ account_id, cursor }, { caller }) {
    const { organizationId } = caller
    if (account_id !== undefined && (yield* (yield* Accounts).find(caller, account_id, false)) === null) {
      return yield* new ResourceMissing({ param: "account_id" })
    }
    const place = cursor === undefined ? { step: "rounds" as const, round: 0n } : readPlace(cursor)
    if (place === null) {
      return yield* new ParameterInvalid({
        param: "cursor",
        message: "cursor: there is no such place, send what a call before has answered."
      })
    }
    const turns = yield* VerificationTurns
    return yield* Effect.scoped(
      Effect.andThen(turns.take(organizationId), verify(organizationId, account_id ?? null, place))
    )
  })
)
