import { Effect } from "effect"
import { signUpLinkLifetime } from "../../domain/Limits.ts"
import { before, now } from "../../domain/Moments.ts"
import { LicenceEnds } from "../../ports/organization/LicenceEnds.ts"
import * as Job from "../Job.ts"
import { endLicences, leaveAccounts } from "./LicenceEnds.ts"
import { applyLicences } from "./LicenceStops.ts"

const expireLinks = Effect.gen(function*() {
  yield* (yield* LicenceEnds).expireLinks(before(yield* now, signUpLinkLifetime))
})

/** Batches lock their rows. */
export const settleLicences = Job.make("settle_licences", {
  period: "1 minute",
  does:
    "ends trials that are over, and suspends organizations 30 days after the end of their licence by agreement; stops the protection of organizations whose licence has ended or that are suspended or closed, and restores it with the licence; after 30 days it gives up their accounts, for which a worker removes the service's 2FA password and passkey and logs the sessions out; frees the seats of unused sign-up links",
  run: Effect.all([endLicences, applyLicences, leaveAccounts, expireLinks], { discard: true })
})
