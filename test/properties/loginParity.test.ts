import { expect, layer } from "@effect/vitest"
import { Effect, Redacted } from "effect"
import { TestClock } from "effect/testing"
import { operations } from "../added/index.ts"
import * as Mcp from "../mcp/support.ts"
import { type Arguments, embedded, overHttp, without } from "../support/http/transports.ts"
import * as Logins from "../support/logins/logins.ts"
import { postgres } from "../support/postgres/database.ts"
import { isStep } from "../support/random.ts"
import * as World from "../support/world.ts"

type Id = typeof operations[number]["id"]
type Via = "rest" | "mcp" | "embedded"

const ask = Effect.fnUntraced(function*(via: Via, id: Id, args: Arguments, key: World.Person["key"]) {
  const operation = operations.find((one) => one.id === id)
  if (operation === undefined) return yield* Effect.die(new Error(`No operation ${id}`))
  if (via === "embedded") return yield* embedded(operation, args, key)
  if (via === "mcp") return Mcp.resultOf(yield* Mcp.call(id, args, { key, options: Mcp.personal })).body
  const { path, ...request } = overHttp(operation, args)
  return (yield* World.send(operation.method, path, { key, ...request })).body
})

/**
 * A whole life of logins by one way: what each step was answered, with numbers and ids by the order in which they came.
 */
const played = Effect.fnUntraced(function*(via: Via) {
  const { admins, id, platform } = yield* Logins.staged()
  const people = [
    yield* Logins.meet({ security: { two_fa_password: Redacted.make("horse staple"), two_fa_hint: "a horse" } }),
    yield* Logins.meet(),
    yield* Logins.meet()
  ] as const
  const [first, second, third] = people
  const scopeless = yield* World.makeKey(id, admins.owner.id, ["org:read"])
  const keys = { ...admins, scopeless }
  const asked = new Set<Id>()
  const collected: Array<readonly [Id, unknown]> = []
  const names = new Map<string, string>(people.map(({ phone }, index) => [phone, `number ${index}`]))
  const named = (text: string) =>
    text.replaceAll(/\+\d{9,}|[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}/g, (found) => {
      const name = names.get(found) ?? `#${names.size}`
      names.set(found, name)
      return name
    })
  const step = Effect.fnUntraced(function*(operation: Id, args: Arguments, who: keyof typeof keys = "owner") {
    const body = yield* ask(via, operation, args, keys[who].key)
    asked.add(operation)
    const failed = typeof body.error === "object" && body.error !== null
    const answer = failed ? without(body.error, "type") : body
    collected.push([operation, JSON.parse(named(JSON.stringify(answer)))])
    return answer
  })
  const start = (phone_number: string, who?: keyof typeof keys) => step("start_account_connect", { phone_number }, who)
  yield* start("12")
  yield* start("+4900000000")
  const { id: login_id } = yield* start(first.phone)
  yield* start(first.phone)
  yield* start(first.phone, "superadmin")
  for (const who of ["billing", "scopeless"] as const) yield* start(first.phone, who)
  for (const who of ["owner", "admin", "archive"] as const) yield* step("get_login", { login_id }, who)
  yield* step("resend_login_code", { login_id })
  yield* TestClock.adjust("2 minutes")
  yield* step("resend_login_code", { login_id })
  for (const code of ["no code!", "000-00"]) yield* step("submit_login_code", { login_id, code })
  yield* step("submit_login_password", { login_id, password: "too early" })
  yield* step("submit_login_code", { login_id, code: yield* first.code })
  yield* step("submit_login_code", { login_id, code: yield* first.code })
  for (const password of ["wrong", "horse staple"]) yield* step("submit_login_password", { login_id, password })
  const { account_id } = yield* step("get_login", { login_id })
  yield* step("cancel_login", { login_id })
  yield* start(first.phone)
  yield* step("start_account_relogin", { account_id: login_id })
  yield* World.set(id, "account", account_id, { monitoring_state: "unknown" })
  const again = yield* step("start_account_relogin", { account_id })
  for (let count = 0; count < 2; count++) yield* step("cancel_login", { login_id: again.id })
  yield* step("submit_login_code", { login_id: again.id, code: "00000" })
  const { id: late } = yield* start(second.phone)
  yield* TestClock.adjust("10 minutes")
  yield* step("submit_login_code", { login_id: late, code: yield* second.code })
  const { id: failing } = yield* start(third.phone)
  for (let count = 0; count < 6; count++) yield* step("submit_login_code", { login_id: failing, code: "000-00" })
  yield* platform.script({ operation: "begin", answer: { _tag: "Unavailable" } })
  yield* start(second.phone)
  const events = yield* World.journal(id)
  return {
    asked,
    collected,
    journaled: events.map(({ action, details, outcome }) => [action, outcome, named(JSON.stringify(details))]),
    // That a login has run out is the service's own word, whoever notices it.
    vias: new Set(events.flatMap(({ action, via }) => action === "login.expired" ? [] : [via]))
  }
})

layer(World.world(postgres))("logins over REST, MCP and embedding", (it) => {
  it.effect("S1-09, S1-10: each step answers the same by each transport, whatever it is asked and by whom", () =>
    Effect.gen(function*() {
      const rest = yield* played("rest")
      expect([...rest.asked].toSorted()).toEqual(
        [...operations.filter(isStep).map(({ id }) => id), "get_login"].toSorted()
      )
      const codes = rest.collected.map(([, answer]) => (answer as Arguments)["code"] ?? (answer as Arguments)["state"])
      expect(new Set(codes)).toEqual(
        new Set([
          "parameter_invalid",
          "phone_refused",
          "code_sent",
          "login_in_progress",
          "role_forbidden",
          "insufficient_scope",
          "resource_missing",
          "resend_too_early",
          "code_invalid",
          "login_step",
          "password_needed",
          "password_invalid",
          "completed",
          "already_connected",
          "cancelled",
          "login_expired",
          "messenger_unavailable"
        ])
      )
      for (const via of ["mcp", "embedded"] as const) {
        const other = yield* played(via)
        expect(other.collected).toEqual(rest.collected)
        expect(other.journaled).toEqual(rest.journaled)
        expect([...other.vias]).toEqual([via])
      }
      expect([...rest.vias]).toEqual(["rest"])
    }))
})
