/** An account that the service gives up, with everything that it has set. */
import { Effect, Redacted } from "effect"
import { SqlClient } from "effect/sql"
import { TestClock } from "effect/testing"
import { SimulatedPlatform } from "../../../src/layers/messenger/simulated/SimulatedPlatform.ts"
import { established, start } from "../protection/watched.ts"
import { advance, forgetOthers } from "../protection/watching.ts"
import * as World from "../world.ts"
import * as HeldSecrets from "./heldSecrets.ts"

export const ours = Redacted.make("the service's own")

/**
 * An account with everything that the service sets: a 2FA password with its recovery address, a passkey, two sessions.
 */
export const staged = Effect.gen(function*() {
  const platform = yield* SimulatedPlatform
  yield* platform.clearScripts
  yield* TestClock.setTime(start)
  yield* forgetOthers
  const { admins, id } = yield* World.makeOrganization()
  const person = yield* World.makeLiveAccount(id, {}, { facts: established })
  const { id: account, userId } = person
  const path = `/v1/accounts/${account}`
  const { key } = admins.owner
  yield* World.send("PUT", `${path}/paired-session`, { key, body: {} })
  yield* platform.changeSecurity(userId, {
    two_fa_password: ours,
    recovery_email: "ada@example.org",
    passkey_ids: ["ours", "the holder's"]
  })
  yield* HeldSecrets.hold(id, account, { password: ours, passkey: "ours" })
  yield* platform.logIn(userId, { device_model: "Phone" })
  yield* advance("3 minutes")
  const query = (table: string) =>
    World.query<{ found: string }>(
      id,
      (sql) => sql`select to_jsonb(made)::text as found from ${sql(table)} as made where organization_id = ${id}`
    )
  return {
    account,
    admins,
    id,
    path,
    person,
    platform,
    query,
    offboard: World.post(`${path}/offboard`, key),
    as: (who: World.Person) => World.post(`${path}/offboard`, who.key),
    read: Effect.map(World.get(path, key), ({ body }) => body),
    seats: Effect.map(World.get("/v1/organization", key), ({ body }) => body.seats.used),
    slots: HeldSecrets.slots(id, account),
    isSet: platform.isPassword(userId, ours),
    /** How many sessions of the service the messenger has. */
    authorizations: Effect.map(
      SqlClient.SqlClient.use((sql) =>
        sql`select 1 from simulated_authorization where user_id = ${userId} and session_ref is not null`
      ),
      (rows) => rows.length
    ),
    events: Effect.map(World.journal(id), (all) => all.map(({ action, outcome }) => `${action} ${outcome}`)),
    last: Effect.map(World.journal(id), (all) => all.find((one) => one.action === "account.offboarded" && one.closes))
  }
})
