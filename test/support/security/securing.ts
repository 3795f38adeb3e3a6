/** An account as the operations need it that secure one: what they have done before is taken back. */
import { Clock, Effect, Redacted } from "effect"
import { SqlClient } from "effect/sql"
import type { MessengerUserId } from "../../../src/domain/messenger/Messenger.ts"
import { SimulatedPlatform } from "../../../src/layers/messenger/simulated/SimulatedPlatform.ts"
import * as Tenant from "../../../src/layers/postgres/Tenant.ts"
import { api } from "../../added/index.ts"
import * as World from "../world.ts"
import * as HeldSecrets from "./heldSecrets.ts"

const pattern = "a*****a@example.org"
const far = 4_000_000_000_000

/** Has the service wait for a code of each kind that is sent to an address of the account. */
export const awaitCodes = (id: string, account: string) =>
  World.query(id, (sql) =>
    Effect.forEach(["recovery", "login"], (kind) => {
      const row = { organization_id: id, account_id: account, kind, pattern }
      const rest = { code_length: 6, attempts_left: 5, expires_at: new Date(far) }
      return sql<object>`insert into email_change ${sql.insert({ ...row, ...rest })}`
    }, World.inOneWrite))

interface Made {
  readonly organization: string
  readonly account: string
  readonly userId: MessengerUserId
  /** A passkey that the service has added, where it has. */
  readonly passkey?: string
}

/** A managed 2FA password, a login address, and both addresses waiting for the code that the samples enter. */
export const ready = Effect.fnUntraced(function*({ account, organization: id, passkey, userId }: Made) {
  const sql = yield* SqlClient.SqlClient
  const platform = yield* SimulatedPlatform
  const password = Redacted.make("the service's")
  yield* platform.changeSecurity(userId, {
    two_fa_password: password,
    login_email: "ada@example.org",
    recovery_email: null,
    passkey_ids: passkey === undefined ? [] : [passkey]
  })
  const { code } = api.confirm_recovery_email.sample.request
  const sent = { pattern, code, until: far, attemptsLeft: 5 }
  const twoDaysAgo = new Date((yield* Clock.currentTimeMillis) - 2 * 86_400_000)
  yield* Effect.orDie(sql`
    update simulated_account set recovery_pending_pattern = ${pattern},
      email_codes = ${JSON.stringify({ recovery: sent, login: sent })}::jsonb where user_id = ${userId}`)
  yield* Effect.orDie(sql`
    update simulated_authorization set signed_in_at = ${twoDaysAgo}
    where user_id = ${userId} and session_ref is not null`)
  const ofAccount = sql`organization_id = ${id} and account_id = ${account}`
  yield* Tenant.directory(sql)(sql`delete from account_attempt where ${ofAccount}`)
  yield* World.query(id, (sql) =>
    Effect.forEach(
      ["account_secret", "email_change"],
      (table) => sql<object>`delete from ${sql(table)} where ${ofAccount}`,
      World.inOneWrite
    ))
  yield* awaitCodes(id, account)
  yield* HeldSecrets.hold(id, account, { password, ...(passkey === undefined ? {} : { passkey }) })
})
