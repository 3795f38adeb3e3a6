/** Admins with a second factor, and the codes that their app shows. */
import { Clock, Effect, Redacted } from "effect"
import * as crypto from "node:crypto"
import { TOTP } from "otpauth"
import { OrganizationId } from "../../../src/domain/people/Access.ts"
import { Peppers } from "../../../src/layers/crypto/Peppers.ts"
import { Vault } from "../../../src/layers/crypto/Vault.ts"
import * as Factors from "../../../src/layers/sql/signin/StoredFactors.ts"
import * as Pages from "../http/pages.ts"
import * as World from "../world.ts"

/** An authenticator app's secret, which everybody in these tests has. */
export const secret = "GEZDGNBVGY3TQOJQGEZDGNBVGY3TQOJQ"

/** What the app shows so many steps of 30 seconds from now. */
export const code = (steps = 0, of = secret) =>
  Effect.map(
    Clock.currentTimeMillis,
    (now) => new TOTP({ secret: of }).generate({ timestamp: now + steps * 30_000 })
  )

/** Gives the admin an authenticator app. */
export const giveTotp = Effect.fnUntraced(function*(organization: string, adminId: string) {
  const organizationId = OrganizationId.make(organization)
  const sealed = (yield* Vault).seal(Redacted.make(secret), Factors.sealedFor({ organizationId, adminId }))
  yield* World.query(
    organization,
    (sql) =>
      sql`insert into totp (organization_id, admin_id, secret_sealed, used_step, created_at)
        values (${organization}, ${adminId}, ${sealed}, -1, ${new Date(0)})`
  )
})

/** Gives the admin a recovery code. */
export const giveRecoveryCode = Effect.fnUntraced(function*(organization: string, adminId: string) {
  const organizationId = OrganizationId.make(organization)
  const made = crypto.randomBytes(8).toString("hex")
  const digest = Factors.codeDigest((yield* Peppers)[0], { organizationId, adminId }, made)
  yield* World.query(
    organization,
    (sql) =>
      sql`insert into recovery_code (organization_id, admin_id, digest, created_at)
        values (${organization}, ${adminId}, ${digest}, ${new Date(0)})`
  )
  return made
})

/** Gives the first factor, and answers the cookie of the sign-in that waits. */
export const begin = Effect.fnUntraced(function*(organization: string, email: string, visiting: Pages.Visiting = {}) {
  const page = yield* Pages.signInWith({ organization, email, password: Pages.password }, visiting)
  if (page.location?.includes("/console/sign-in/second-factor") !== true) {
    throw new Error(`The sign-in leads to ${page.location} with ${page.status}:\n${page.text}`)
  }
  return [visiting.cookie, Pages.cookiesOf(page)].filter((part) => part !== undefined).join("; ")
})

/** Answers the question for the second factor. */
export const answer = Effect.fnUntraced(function*(cookie: string, text: string, visiting: Pages.Visiting = {}) {
  const shown = yield* Pages.visit("GET", "/console/sign-in/second-factor", { ...visiting, cookie })
  if (shown.status !== 200) return shown
  const { action, hidden } = Pages.formOf(shown, "/console/sign-in/second-factor", "id=\"code\"")
  return yield* Pages.visit("POST", action, { ...visiting, cookie, form: { ...hidden, code: text } })
})
