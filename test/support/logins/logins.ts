/** Logins in tests: people whom nobody has connected, and admins who sign in to their accounts. */
import { Effect, Redacted } from "effect"
import { SqlClient } from "effect/sql"
import { TestClock } from "effect/testing"
import * as crypto from "node:crypto"
import {
  type NewSimulatedAccount,
  SimulatedPlatform
} from "../../../src/layers/messenger/simulated/SimulatedPlatform.ts"
import * as World from "../world.ts"

export const start = Date.UTC(2026, 2, 2, 12)

/** Somebody on the messenger whom nobody has connected, with the code that was sent to them last. */
export const meet = Effect.fnUntraced(function*(person: Partial<NewSimulatedAccount> = {}) {
  const platform = yield* SimulatedPlatform
  const digits = person.phone ?? `49${crypto.randomInt(1_000_000_000, 9_999_999_999)}`
  const userId = yield* platform.createAccount({ first_name: "Ada", last_name: "Lovelace", ...person, phone: digits })
  const code = Effect.map(platform.codes, (all) => {
    const found = all.findLast(({ phone }) => phone === digits)
    return found === undefined ? "none" : Redacted.value(found.code)
  })
  return { code, phone: `+${digits}`, userId }
})

/** What an admin asks of logins. */
export const actor = (key: World.Person["key"], headers: Record<string, string> = {}) => ({
  connect: (phone_number: string, more: object = {}) =>
    World.send("POST", "/v1/logins", { key, headers, body: { phone_number, ...more } }),
  read: (login: string) => World.get(`/v1/logins/${login}`, key),
  code: (login: string, code: string) =>
    World.send("POST", `/v1/logins/${login}/code`, { key, headers, body: { code } }),
  password: (login: string, password: string) =>
    World.send("POST", `/v1/logins/${login}/password`, { key, headers, body: { password } }),
  resend: (login: string) => World.post(`/v1/logins/${login}/resend`, key),
  cancel: (login: string) => World.post(`/v1/logins/${login}/cancel`, key),
  relogin: (account: string, body: object = {}) =>
    World.send("POST", `/v1/accounts/${account}/relogin`, { key, headers, body })
})

/** An organization whose owner connects accounts, on a day of its own. */
export const staged = Effect.fnUntraced(function*(facts: Record<string, unknown> = {}) {
  yield* TestClock.setTime(start)
  const platform = yield* SimulatedPlatform
  yield* platform.clearScripts
  const { admins, id } = yield* World.makeOrganization(facts)
  const { key } = admins.owner
  const mine = actor(key)
  /** Connects the person, whatever comes. */
  const connected = Effect.fnUntraced(function*(person: Effect.Success<ReturnType<typeof meet>>, more: object = {}) {
    const { body } = yield* mine.connect(person.phone, more)
    return yield* mine.code(body.id, yield* person.code)
  })
  return {
    id,
    admins,
    platform,
    key,
    ...mine,
    connected,
    as: (who: World.Person) => actor(who.key),
    account: (account: string) => Effect.map(World.get(`/v1/accounts/${account}`, key), ({ body }) => body),
    actions: Effect.map(
      World.journal(id),
      (all) => all.map(({ action, outcome }) => outcome === "done" ? action : `${action} ${outcome}`)
    ),
    seats: Effect.map(World.get("/v1/organization", key), ({ body }) => body.seats),
    /** How many sessions the service has on the messenger by logins of the organization. */
    sessions: Effect.gen(function*() {
      const refs = yield* World.query<{ session_ref: string }>(
        id,
        (sql) => sql`select session_ref from login where organization_id = ${id}`
      )
      const found = yield* SqlClient.SqlClient.use((sql) =>
        sql`select 1 from simulated_authorization
          where session_ref = any(${refs.map(({ session_ref }) => session_ref)}::text[])`
      )
      return found.length
    })
  }
})

/** The status and the code of a refusal, or the state of the login. */
export const summaryOf = ({ body, status }: World.Answer): string => `${status} ${body.error?.code ?? body.state}`
