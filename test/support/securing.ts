/** An account as the operations need it that secure one: what they have done before is taken back. */
import { Effect, Redacted } from "effect"
import { SqlClient } from "effect/sql"
import type { MessengerUserId } from "../../src/domain/Messenger.ts"
import { SimulatedPlatform } from "../../src/layers/messenger/SimulatedPlatform.ts"
import * as Tenant from "../../src/layers/sql/Tenant.ts"
import { api } from "../added/index.ts"
import * as HeldSecrets from "./heldSecrets.ts"
import * as World from "./world.ts"

interface Made {
  readonly id: string
  readonly account: string
  readonly userId: MessengerUserId
  readonly sessionless: string
}

const far = 4_000_000_000_000

/** A managed 2FA password, a login address, and both addresses waiting for the code that the samples enter. */
export const ready = Effect.fnUntraced(function*({ account, id, sessionless, userId }: Made) {
  const sql = yield* SqlClient.SqlClient
  const platform = yield* SimulatedPlatform
  const password = Redacted.make("the service's")
  yield* platform.changeSecurity(userId, {
    two_fa_password: password,
    login_email: "ada@example.org",
    recovery_email: null,
    passkey_ids: []
  })
  const { code } = api.confirm_recovery_email.sample.request
  const sent = { pattern: "a*****a@example.org", code, until: far, attemptsLeft: 5 }
  yield* sql`
    update simulated_account set recovery_pending_pattern = ${sent.pattern},
      email_codes = ${JSON.stringify({ recovery: sent, login: sent })}::jsonb where user_id = ${userId}`
  yield* sql`
    update simulated_authorization set signed_in_at = ${new Date(1_000)}
    where user_id = ${userId} and session_ref is not null`
  yield* Tenant.directory(sql)(sql`delete from account_attempt where organization_id = ${id}`)
  yield* World.query(id, (sql) => sql`delete from account_secret where organization_id = ${id} returning id`)
  yield* World.query(id, (sql) => sql`delete from email_change where organization_id = ${id} returning kind`)
  yield* HeldSecrets.hold(id, account, { password })
  for (const account_id of [account, sessionless]) {
    for (const kind of ["recovery", "login"]) {
      yield* World.query(id, (sql) =>
        sql`
        insert into email_change ${
          sql.insert({
            organization_id: id,
            account_id,
            kind,
            pattern: sent.pattern,
            code_length: 6,
            attempts_left: 5,
            expires_at: new Date(far)
          })
        } returning kind`)
    }
  }
})
