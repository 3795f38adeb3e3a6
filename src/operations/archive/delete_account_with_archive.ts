import { Effect } from "effect"
import { AccountAction, TargetAccount } from "../../domain/accounts/Account.ts"
import { ConfirmPhrase, isConfirmed } from "../../domain/archive/ConfirmPhrase.ts"
import { ArchiveHeld, ConfirmPhraseInvalid, NotOffboarded, TwoFaNotReleased } from "../../domain/Failure.ts"
import { superadmins } from "../../domain/people/Access.ts"
import { acted } from "../../domain/sessions/SessionReview.ts"
import * as Operation from "../../kernel/Operation.ts"
import { Accounts } from "../../ports/accounts/Accounts.ts"
import { ArchiveDeletions } from "../../ports/archive/ArchiveDeletions.ts"
import { ArchiveHolds } from "../../ports/archive/ArchiveHolds.ts"
import { ServiceSessions } from "../../ports/protection/ServiceSessions.ts"
import { Secrets } from "../../ports/security/Secrets.ts"
import * as samples from "./archive.samples.ts"

export const deleteAccountWithArchive = Operation.write(
  "delete_account_with_archive",
  {
    summary: "Delete an offboarded account with everything that is archived of it.",
    description:
      "It cannot be undone: the keys are deleted at once, and nothing of the archive can be read from then on, by anyone; what they opened is deleted soon after. The account is gone, its events stay in the journal, and its person may be connected again, as another account.",
    method: "POST",
    path: "/v1/accounts/:account_id/delete",
    toolset: "archive",
    scope: "archive:delete",
    roles: superadmins,
    destructive: true,
    idempotent: true,
    personal: "confirm_phrase",
    personalIsArgument: true,
    personalPage: "/console/accounts/:account_id/delete",
    params: { account_id: TargetAccount },
    body: {
      confirm_phrase: ConfirmPhrase.annotateKey({
        description:
          "The word `delete` and the digits of the account's phone number, such as `delete 31201234567`: typed by the person who deletes, never filled in for them."
      })
    },
    success: AccountAction,
    sample: samples.deleteAccountWithArchive,
    failures: [ConfirmPhraseInvalid, NotOffboarded, TwoFaNotReleased, ArchiveHeld],
    journal: { action: "account.deleted", target: "account" }
  },
  Effect.fnUntraced(function*({ confirm_phrase }, { account, caller, now }) {
    const { organizationId } = caller
    const of = { organizationId, accountId: account.id }
    if (!isConfirmed(confirm_phrase, { kind: "account", phoneNumber: account.phone_number })) {
      return yield* new ConfirmPhraseInvalid({ param: "confirm_phrase" })
    }
    if (account.offboarded_at === null) return yield* new NotOffboarded({})
    if (yield* (yield* Secrets).isUnseen(of, "two_fa")) return yield* new TwoFaNotReleased({})
    const left = yield* (yield* ServiceSessions).retired(of)
    if (left.length > 0) {
      return yield* new NotOffboarded({
        message: "Offboarding has not ended: the service still signs out of the account. Try again later."
      })
    }
    const deletions = yield* ArchiveDeletions
    if (yield* (yield* ArchiveHolds).binds(organizationId, { accountIds: [account.id], before: null })) {
      return yield* new ArchiveHeld({})
    }
    const begun = yield* deletions.beginAccount(organizationId, account.id, now)
    yield* (yield* Accounts).remove(organizationId, account.id)
    return Operation.changed(acted("account_deleted", account, null, now), begun)
  })
)
