import { Effect } from "effect"
import { accountName } from "../../domain/accounts/Account.ts"
import { unrevealedTold } from "../../domain/Limits.ts"
import { secretUnrevealed } from "../../domain/mail/index.ts"
import { after, now } from "../../domain/Moments.ts"
import type { OrganizationId } from "../../domain/people/Access.ts"
import { Db } from "../../ports/Db.ts"
import { Leftovers } from "../../ports/Leftovers.ts"
import { Outbox } from "../../ports/mail/Outbox.ts"
import { SecretExpiry } from "../../ports/security/SecretExpiry.ts"
import { eachAlone, recordAccount } from "../Batch.ts"
import * as Job from "../Job.ts"

/** Reports each password once that has not been revealed and ends soon, and erases what has ended. */
const erase = Effect.fnUntraced(function*(organizationId: OrganizationId, at: Date, soon: Date) {
  const expiry = yield* SecretExpiry
  const outbox = yield* Outbox
  yield* expiry.eraseAddresses(organizationId, at)
  for (const { erase_at, id, ...names } of yield* expiry.reportEnding(organizationId, at, soon)) {
    const letter = secretUnrevealed({ account: { id, name: accountName(names) }, erasesAt: erase_at })
    yield* outbox.add(organizationId, `secret/${id}`, letter)
  }
  for (const { account_id, kind, slot } of yield* expiry.erase(organizationId, at)) {
    // Secrets that were only kept in case the messenger still took them are nobody's news.
    if (kind === "two_fa" && slot === "held") yield* recordAccount(organizationId, "two_fa.erased", account_id)
  }
})

export const forgetSecrets = Job.make("forget_secrets", {
  period: "10 minutes",
  does:
    "deletes secrets that were replaced a week ago, keys of sessions that no longer exist, attempts that no longer count, and login addresses that were not confirmed",
  run: Effect.gen(function*() {
    const db = yield* Db
    const leftovers = yield* Leftovers
    const at = yield* now
    const soon = after(at, unrevealedTold)
    yield* leftovers.accountAttempts
    yield* leftovers.messengerKeys
    yield* eachAlone(
      yield* (yield* SecretExpiry).concerned(at, soon),
      (organizationId) => db.transaction(organizationId, erase(organizationId, at, soon))
    )
  })
})
