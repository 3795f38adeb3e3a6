/** Secrets that are looked for wherever they must not be: those of holders, and those that the service makes for them. */
import { expect } from "@effect/vitest"
import { Effect, Redacted } from "effect"
import { SqlClient } from "effect/sql"
import { TestClock } from "effect/testing"
import * as crypto from "node:crypto"
import * as Gcm from "../../../src/layers/crypto/Gcm.ts"
import { keyEncryption } from "../../../src/layers/crypto/KeyEncryption.ts"
import type { SimulatedPlatform } from "../../../src/layers/messenger/SimulatedPlatform.ts"
import * as MessengerKeysSql from "../../../src/layers/sql/MessengerKeys.ts"
import * as Tenant from "../../../src/layers/sql/Tenant.ts"
import { MessengerKeys } from "../../../src/ports/MessengerKeys.ts"
import * as Mcp from "../../mcp/support.ts"
import * as Logins from "../logins.ts"
import * as Pages from "../pages.ts"
import type * as Populated from "../populated.ts"
import * as World from "../world.ts"

export type Secrets = Record<string, string>

/** An account whose service holds secrets, and all secrets that are known so far. */
interface Stage {
  readonly organization: Populated.Populated
  readonly account: Populated.Populated["live"][number]
  readonly platform: SimulatedPlatform["Service"]
  readonly secrets: Secrets
}

/** A secret that stands nowhere else. */
export const canary = (name: string) => `canary-${name}-${crypto.randomUUID()}`

/** All of an answer. */
export const textOf = (
  answer: { readonly status: number; readonly headers: Headers; readonly body?: unknown; readonly text?: string }
) => JSON.stringify([answer.status, [...answer.headers], answer.text ?? answer.body])

/** A key that is no text, in the forms in which it would be written down. */
const written = (name: string, key: Uint8Array): Secrets => ({
  [`${name} in base64`]: Buffer.from(key).toString("base64url"),
  [`${name} in hex`]: Buffer.from(key).toString("hex")
})

/** What a holder enters at logins, what the service makes for an account, and the keys that all of it is sealed under. */
export const secured = Effect.fnUntraced(
  function*({ account, organization, platform, secrets }: Stage) {
    const { admins, id } = organization
    const { key } = admins.owner
    const mine = Logins.actor(key)
    const holders = canary("holder")
    const person = yield* Logins.meet()
    yield* platform.changeSecurity(person.userId, { two_fa_password: Redacted.make(holders) })
    const started = yield* mine.connect(person.phone)
    const wrongCode = crypto.randomBytes(6).toString("hex")
    const wrongPassword = canary("holder-wrong")
    const steps = [
      started,
      yield* mine.code(started.body.id, wrongCode),
      yield* mine.code(started.body.id, `${wrongCode}!`),
      yield* mine.code(started.body.id, yield* person.code),
      yield* mine.password(started.body.id, wrongPassword),
      yield* mine.read(started.body.id),
      yield* mine.password(started.body.id, holders)
    ]
    expect(steps.map(({ status }) => status)).toEqual([200, 400, 400, 200, 400, 200, 200])
    const theirs = `/v1/accounts/${steps.at(-1)?.body.account_id}`
    const code = String(crypto.randomInt(1e11, 1e12))
    const put = (what: string, current_password: string) => World.put(`${theirs}/${what}`, key, { current_password })
    const entered = [
      yield* put("two-fa", wrongPassword),
      yield* put("paired-session", wrongPassword),
      yield* put("paired-session", holders),
      yield* put("two-fa", holders),
      yield* World.send("POST", `${theirs}/recovery-email`, {
        key,
        body: { email: secrets["recovery address"] + "@example.net" }
      }),
      yield* World.send("POST", `${theirs}/recovery-email/confirm`, { key, body: { code } })
    ]
    expect(entered.map(({ status }) => status)).toEqual([400, 400, 200, 200, 200, 400])
    const asked = ["create_paired_session", "set_two_fa_password"].map((name) =>
      Mcp.ask("tools/call", {
        name,
        arguments: { account_id: account.id },
        inputResponses: { current_password: { action: "accept", content: { current_password: wrongPassword } } }
      }, { key })
    )
    const tools = [
      ...yield* Effect.all(asked),
      yield* Mcp.call("set_two_fa_password", { account_id: account.id, current_password: wrongPassword }, { key })
    ]
    yield* TestClock.adjust("25 hours")
    const made = [
      yield* World.put(`/v1/accounts/${account.id}/two-fa`, key, {}),
      yield* World.put(`/v1/accounts/${account.id}/passkey`, key, undefined),
      yield* World.get(`/v1/accounts/${account.id}/messenger-profile`, key)
    ]
    expect(made.map(({ status }) => status)).toEqual([200, 200, 200])
    const keys = yield* keyEncryption
    const rows = yield* World.query<{ id: string; kind: string; sealed: string; key_sealed: string }>(
      id,
      (sql) =>
        sql`select id, kind, account_secret.sealed, account_key.sealed as key_sealed
      from account_secret join account_key using (organization_id, account_id) where account_id = ${account.id}`
    )
    const dataKey = yield* keys.open(rows[0]?.key_sealed ?? "", [id, account.id, "data_key"])
    const opened = rows.map((row): [string, string] => [
      `${row.kind} ${row.id}`,
      Gcm.open(Redacted.value(dataKey), Buffer.from(row.sealed, "base64url"), [id, account.id, row.kind, row.id])
        .toString("utf8")
    ])
    // The passkey that was held before is kept for a while, the password is not.
    expect(
      rows.map(({ kind }) => kind).toSorted()
    ).toEqual(["passkey", "passkey", "two_fa"])
    const messenger = yield* MessengerKeys
    const sessionKey = canary("messenger")
    expect(yield* messenger.save(account.sessionRef, "key:2", Redacted.make(Buffer.from(sessionKey)), 0)).toBe(true)
    expect((yield* messenger.load(account.sessionRef))?.values.size).toBe(1)
    const sql = yield* SqlClient.SqlClient
    const [session] = yield* Tenant.directory(sql)(
      sql<{ sealed: string }>`select sealed from messenger_session where session_ref = ${account.sessionRef}`
    )
    const keyOfSession = yield* keys.open(session?.sealed ?? "", ["messenger_session", account.sessionRef])
    Object.assign(secrets, {
      ...Object.fromEntries(opened),
      ...written("key of the account", Redacted.value(dataKey)),
      ...written("key of the session", Redacted.value(keyOfSession)),
      "key of the messenger": sessionKey,
      "password of a holder": holders,
      "wrong password of a holder": wrongPassword
    })
    const cookie = yield* Pages.signIn(id, admins.owner.id)
    const pages = [
      yield* Pages.visit("GET", `/console${theirs.slice(3)}/security`, { cookie }),
      yield* Pages.visit("GET", `/console${theirs.slice(3)}/offboard`, { cookie }),
      yield* Pages.visit("GET", `/console/accounts/${account.id}/secrets`, { cookie })
    ]
    expect(pages.map(({ status }) => status)).toEqual([200, 200, 200])
    secrets["session at the console"] = cookie.slice(cookie.indexOf("=") + 1)
    const offboarded = yield* World.post(`${theirs}/offboard`, key)
    expect(offboarded.body.action).toBe("offboarded")
    const answers = [...steps, ...entered, ...made, offboarded, ...tools, ...pages].map(textOf)
    return { answers, wrongCode, code }
  },
  Effect.provide(MessengerKeysSql.layer)
)
