/**
 * Secrets that are looked for wherever they must not be: those of holders, and those that the service makes for them.
 */
import { expect } from "@effect/vitest"
import { Effect, Redacted } from "effect"
import { SqlClient } from "effect/sql"
import { TestClock } from "effect/testing"
import * as crypto from "node:crypto"
import * as Gcm from "../../../src/layers/crypto/Gcm.ts"
import { keyEncryption } from "../../../src/layers/crypto/security/KeyEncryption.ts"
import type { SimulatedPlatform } from "../../../src/layers/messenger/simulated/SimulatedPlatform.ts"
import * as Tenant from "../../../src/layers/postgres/Tenant.ts"
import * as MessengerKeysSql from "../../../src/layers/sql/messenger/MessengerKeys.ts"
import { MessengerKeys } from "../../../src/ports/messenger/MessengerKeys.ts"
import * as Mcp from "../../mcp/support.ts"
import * as Pages from "../http/pages.ts"
import * as Logins from "../logins/logins.ts"
import type * as Populated from "../populated.ts"
import * as HeldSecrets from "../security/heldSecrets.ts"
import * as Factors from "../signin/factors.ts"
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

/** A code of its own, as the messenger may send one, instead of one of so few digits that it stands in many texts. */
const sentInstead = Effect.fnUntraced(function*(to: { readonly phone: string } | { readonly userId: string }) {
  const sql = yield* SqlClient.SqlClient
  const code = "phone" in to ? crypto.randomBytes(6).toString("hex") : String(crypto.randomInt(1e11, 1e12))
  yield* Tenant.directory(sql)(
    "phone" in to
      ? sql`update simulated_login set code = ${code} where phone = ${to.phone.slice(1)}`
      : sql`update simulated_account set email_codes = (
          select jsonb_object_agg(key, jsonb_set(value, '{code}', to_jsonb(${code}::text))) from jsonb_each(email_codes))
        where user_id = ${to.userId}`
  )
  return code
})

/** The secrets that are held of an account, opened, and their kinds. */
const openedOf = Effect.fnUntraced(function*(organizationId: string, accountId: string) {
  const keys = yield* keyEncryption
  const rows = yield* World.query<{ id: string; kind: string; sealed: string; key_sealed: string }>(
    organizationId,
    (sql) =>
      sql`select id, kind, account_secret.sealed, account_key.sealed as key_sealed
      from account_secret join account_key using (organization_id, account_id) where account_id = ${accountId}`
  )
  const key = Redacted.value(yield* keys.open(rows[0]?.key_sealed ?? "", [organizationId, accountId, "data_key"]))
  const opened = rows.map(({ id, kind, sealed }): [string, string] => [
    `${kind} ${id}`,
    Gcm.open(key, Buffer.from(sealed, "base64url"), [organizationId, accountId, kind, id]).toString("utf8")
  ])
  return {
    kinds: rows.map(({ kind }) => kind).toSorted(),
    secrets: { ...Object.fromEntries(opened), ...written(`key of the account ${accountId}`, key) }
  }
})

/** An admin who signs in with a recovery code. */
const recovered = Effect.fnUntraced(function*({ admins, id }: Populated.Populated) {
  const { id: admin } = admins.superadmin
  yield* Pages.signIn(id, admin)
  yield* Factors.giveTotp(id, admin)
  const code = yield* Factors.giveRecoveryCode(id, admin)
  const email = yield* Pages.emailOf(id, admin)
  const wrong = crypto.randomBytes(8).toString("hex")
  const answers = [
    yield* Factors.answer(yield* Factors.begin(id, email), wrong),
    yield* Factors.answer(yield* Factors.begin(id, email), code)
  ]
  expect(answers.map(({ status }) => status)).toEqual([403, 303])
  return {
    answers,
    secrets: { "recovery code": code, "wrong recovery code": wrong, "authenticator app": Factors.secret }
  }
})

/**
 * What a holder enters at logins, what the service makes for an account, and the keys that all of it is sealed under.
 */
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
    const loginCode = yield* sentInstead({ phone: person.phone })
    const steps = [
      started,
      yield* mine.code(started.body.id, wrongCode),
      yield* mine.code(started.body.id, `${wrongCode}!`),
      yield* mine.code(started.body.id, loginCode),
      yield* mine.password(started.body.id, wrongPassword),
      yield* mine.read(started.body.id),
      yield* mine.password(started.body.id, holders)
    ]
    expect(steps.map(({ status }) => status)).toEqual([200, 400, 400, 200, 400, 200, 200])
    const theirId = String(steps.at(-1)?.body.account_id)
    const theirs = `/v1/accounts/${theirId}`
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
    const addressCode = yield* sentInstead({ userId: person.userId })
    entered.push(yield* World.send("POST", `${theirs}/recovery-email/confirm`, { key, body: { code: addressCode } }))
    expect(entered.map(({ status }) => status)).toEqual([400, 400, 200, 200, 200, 400, 200])
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
      yield* World.put(`${theirs}/passkey`, key, undefined),
      yield* World.get(`/v1/accounts/${account.id}/messenger-profile`, key)
    ]
    expect(made.map(({ status }) => status)).toEqual([200, 200, 200, 200])
    const [held, theirHeld] = [yield* openedOf(id, account.id), yield* openedOf(id, theirId)]
    // The passkey that was held before is kept for a while, the password is not.
    expect([held.kinds, theirHeld.kinds]).toEqual([["passkey", "passkey", "two_fa"], ["passkey", "two_fa"]])
    const messenger = yield* MessengerKeys
    const sessionKey = canary("messenger")
    expect(yield* messenger.save(account.sessionRef, "key:2", Redacted.make(Buffer.from(sessionKey)), 0)).toBe(true)
    expect((yield* messenger.load(account.sessionRef))?.values.size).toBe(1)
    const sql = yield* SqlClient.SqlClient
    const [session] = yield* Tenant.directory(sql)(
      sql<{ sealed: string }>`select sealed from messenger_session where session_ref = ${account.sessionRef}`
    )
    const keyOfSession = yield* (yield* keyEncryption).open(session?.sealed ?? "", [
      "messenger_session",
      account.sessionRef
    ])
    Object.assign(secrets, {
      ...held.secrets,
      ...theirHeld.secrets,
      ...written("key of the session", Redacted.value(keyOfSession)),
      "key of the messenger": sessionKey,
      "password of a holder": holders,
      "wrong password of a holder": wrongPassword
    })
    const cookie = yield* Pages.signIn(id, admins.owner.id)
    const ask = `/console/accounts/${account.id}/secrets`
    const { hidden } = Pages.formOf(yield* Pages.visit("GET", ask, { cookie }), ask)
    // The one answer that gives it.
    const revealed = yield* Pages.visit("POST", ask, { cookie, form: { ...hidden, password: Pages.password } })
    const given = Object.entries(held.secrets).filter(([, secret]) => revealed.text.includes(secret))
    expect([revealed.status, given.map(([name]) => name.split(" ")[0])]).toEqual([200, ["two_fa"]])
    const factors = yield* recovered(organization)
    Object.assign(secrets, factors.secrets)
    const pages = [
      yield* Pages.visit("GET", `/console${theirs.slice(3)}/security`, { cookie }),
      yield* Pages.visit("GET", `/console${theirs.slice(3)}/offboard`, { cookie }),
      yield* Pages.visit("GET", `/console/accounts/${account.id}/secrets`, { cookie })
    ]
    expect(pages.map(({ status }) => status)).toEqual([200, 200, 200])
    secrets["session at the console"] = cookie.slice(cookie.indexOf("=") + 1)
    const offboarded = yield* World.post(`${theirs}/offboard`, key)
    expect(offboarded.body.action).toBe("offboarded")
    expect(yield* HeldSecrets.slots(id, theirId)).toEqual([])
    const answers = [...steps, ...entered, ...made, offboarded, ...tools, ...pages, ...factors.answers].map(textOf)
    const codes = {
      "code of a holder": loginCode,
      "wrong code of a holder": wrongCode,
      "code of an address": addressCode,
      "wrong code of an address": code
    }
    return { answers, codes }
  },
  Effect.provide(MessengerKeysSql.layer)
)
