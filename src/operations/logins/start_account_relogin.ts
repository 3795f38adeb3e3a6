import { Effect, Schema } from "effect"
import { TargetAccount } from "../../domain/accounts/Account.ts"
import { AlreadyConnected, alreadyConnected, NoFreeSeat, NotActive, NotLicensed } from "../../domain/Failure.ts"
import { journalAction } from "../../domain/journal/JournalEntry.ts"
import { watchedLately } from "../../domain/Limits.ts"
import { admits } from "../../domain/logins/Connecting.ts"
import { Login } from "../../domain/logins/Login.ts"
import { PhoneNumber } from "../../domain/logins/PhoneNumber.ts"
import { before } from "../../domain/Moments.ts"
import { protectors } from "../../domain/people/Access.ts"
import * as Operation from "../../kernel/Operation.ts"
import { Logins } from "../../ports/logins/Logins.ts"
import * as samples from "./logins.samples.ts"
import { enter, refusals, steps } from "./Starting.ts"

export const startAccountRelogin = Operation.login(
  "start_account_relogin",
  {
    summary: "Begin to sign in again to an account whose session was lost: the messenger sends its holder a code.",
    description:
      "Approvals of the account's sessions are kept. The account has to belong to the same person, also under a new number. A paused account stays paused.",
    method: "POST",
    path: "/v1/accounts/:account_id/relogin",
    toolset: "accounts",
    scope: "accounts:write",
    roles: protectors,
    idempotent: false,
    params: { account_id: TargetAccount },
    body: {
      phone_number: Schema.optionalKey(PhoneNumber).annotateKey({
        description: "The holder's new number, in E.164, where it has changed."
      })
    },
    success: Login,
    sample: samples.startAccountRelogin,
    failures: [
      NotActive,
      AlreadyConnected,
      NotLicensed,
      NoFreeSeat,
      ...refusals
    ],
    journal: journalAction("login.started")
  },
  {
    ...steps,
    enter: ({ phone_number }, context) =>
      Effect.gen(function*() {
        const { account, caller, now, organization } = context
        if (account === undefined) return yield* Effect.die(new Error("A relogin names its account"))
        if (account.offboarded_at !== null) return yield* new NotActive({ message: "The account is offboarded." })
        const since = before(now, watchedLately)
        if (yield* (yield* Logins).isWatched(caller.organizationId, account.id, since)) {
          return yield* new AlreadyConnected({ message: alreadyConnected.signedIn })
        }
        if (admits(organization, false, now) !== null) return yield* new NotLicensed({})
        const phoneNumber = phone_number ?? account.phone_number
        return yield* enter({
          accountId: account.id,
          phoneNumber,
          ownNumber: phoneNumber === account.phone_number,
          roleLabel: null,
          departmentId: null
        }, context)
      })
  }
)
