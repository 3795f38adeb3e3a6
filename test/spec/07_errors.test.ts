import { describe, expect, it, layer } from "@effect/vitest"
import { Effect } from "effect"
import * as crypto from "node:crypto"
import { readdirSync, readFileSync } from "node:fs"
import type * as Operation from "../../src/kernel/Operation.ts"
import { operations } from "../../src/operations/index.ts"
import { answer, codes } from "../../src/transport/Answer.ts"
import { forSpecification } from "../support/postgres/database.ts"
import * as World from "../support/world.ts"
import { chapters } from "./facts.ts"
import { contract } from "./table.ts"

const all: ReadonlyArray<Operation.Any> = operations

/** Section 7's table of codes. */
const table = {
  parameter_invalid: 400,
  invalid_api_key: 401,
  insufficient_scope: 403,
  role_forbidden: 403,
  superadmin_required: 403,
  organization_closed: 403,
  resource_missing: 404,
  mail_preferences_unavailable: 409,
  no_session: 409,
  not_active: 409,
  not_paused: 409,
  rate_limited: 429
}
/** What the messenger's refusals are told as: the specification asks for them, and leaves their codes open. */
const refusals = {
  bio_too_long: 400,
  username_invalid: 400,
  username_taken: 409,
  username_purchasable: 409,
  messenger_refused: 409
}
/** What OAuth tokens and the operations on credentials add (specification, section 10.5). */
const added = {
  invalid_token: 401,
  password_required: 403,
  password_incorrect: 403,
  scope_exceeded: 403,
  // Over MCP no key is made whose secret nobody would hold.
  console_page_required: 403,
  too_many_attempts: 429,
  idempotency_key_reused: 409,
  idempotency_in_progress: 409
}
/** The codes of the specification's section 10.5, each with its status. */
const listed: Readonly<Record<string, number>> = Object.fromEntries(
  chapters.flatMap(([, text]) => [...text.matchAll(/^\| `(\w+)` \| (\d{3}) \|/gm)])
    .map(([, code = "", status]) => [code, Number(status)])
)
/** What the operations beyond section 4 declare. */
const own = new Set(
  all.filter(({ id }) => !contract.includes(id)).flatMap(({ failures }) => failures.map(({ identifier }) => identifier))
)
const failures = { internal_error: 500, service_unavailable: 503, messenger_unavailable: 503 }

const types: Record<number, string> = {
  400: "invalid_request_error",
  401: "authentication_error",
  403: "permission_error",
  404: "not_found_error",
  409: "invalid_request_error",
  416: "invalid_request_error",
  429: "rate_limit_error",
  500: "api_error",
  503: "api_error"
}

describe("7 errors", () => {
  it("S7-03, S7-15: the codes are the table's, the messenger's refusals, those of 5xx and of operations beyond section 4, each with one status", () => {
    const stated = { ...table, ...refusals, ...added, ...failures }
    expect(Object.fromEntries(codes)).toMatchObject(stated)
    const further = [...codes].filter(([code]) => !Object.hasOwn(stated, code))
    expect(further).toEqual(further.map(([code]) => [code, own.has(code) ? listed[code] : "of no operation"]))
    // Whatever else an operation refuses is about its input, the caller, a state, or a part of a content.
    expect(further.filter(([, status]) => ![400, 403, 409, 416].includes(status))).toEqual([])
    expect(Object.keys(listed).filter((code) => !codes.has(code))).toEqual([])
  })

  it("S7-03: a code is written once in the source, as the tag of its class", () => {
    const files = readdirSync("src", { recursive: true, encoding: "utf8" }).filter((file) => file.endsWith(".ts"))
    const source = files.map((file) => readFileSync(`src/${file}`, "utf8")).join("\n")
    for (const code of codes.keys()) {
      const tags = [...source.matchAll(/(?:TaggedError<\w+>\(\)\(|failure<\w+>\(\)\(\s*\d+,)\s*"(\w+)"/g)].filter((
        [, tag]
      ) => tag === code)
      expect([code, tags.length]).toEqual([code, 1])
    }
  })

  it("S7-15: an operation of section 4 answers no other code", () => {
    const known = [...Object.keys({ ...table, ...failures }), "invalid_token"]
    const fourteen = all.filter(({ id }) => contract.includes(id))
    expect(fourteen).toHaveLength(14)
    for (const { failures, id, kind } of fourteen) {
      const allowed = kind === "live" || kind === "guarded" ? [...known, ...Object.keys(refusals)] : known
      expect([id, failures.filter(({ identifier }) => !allowed.includes(identifier ?? ""))]).toEqual([id, []])
    }
  })

  it("S7-01, S7-04, S7-05, S7-06, S7-07, S7-08, S7-09, S7-10: each status has its type", () => {
    for (const [code, status] of codes) {
      const { body, status: answered } = answer({ _tag: code, message: "A sentence." })
      expect([code, answered, body]).toEqual([
        code,
        status,
        { error: { type: types[status], code, message: "A sentence." } }
      ])
    }
  })

  forSpecification((_, database) => {
    layer(World.world(database))((it) => {
      it.effect("S7-05: a conflict of states is 409, with the code that says which", () =>
        Effect.gen(function*() {
          const { admins, id } = yield* World.makeOrganization()
          const { key } = admins.owner
          const offboarded = yield* World.makeAccount(id, { facts: { offboarded_at: new Date(0) } })
          yield* World.set(id, "admin", admins.billing.id, { joined_at: null })
          const account = `/v1/accounts/${offboarded}`
          const answers = [
            yield* World.post(`${account}/pause`, key),
            yield* World.post(`${account}/resume`, key),
            yield* World.get(`${account}/messenger-profile`, key),
            yield* World.get("/v1/me/mail-preferences", admins.billing.key)
          ]
          expect(answers.map(World.refusal)).toEqual([
            [409, "not_active"],
            [409, "not_paused"],
            [409, "no_session"],
            [409, "mail_preferences_unavailable"]
          ])
          for (const { body } of answers) expect(body.error.type).toBe("invalid_request_error")
        }))

      it.effect("S7-06: no credential and an invalid, expired or revoked one get the same 401", () =>
        Effect.gen(function*() {
          const { id } = yield* World.makeOrganization()
          const good = yield* World.makePerson(id, "admin")
          const of = (facts: Record<string, unknown>, expiresAt: Date | null = null) =>
            World.makePerson(id, "admin", { key: { facts, expiresAt } })
          const keys = [
            undefined,
            "",
            "wrong",
            `osc_live_${"a".repeat(43)}`,
            (yield* of({}, new Date(-1))).key,
            (yield* of({ revoked_at: new Date(0) })).key
          ]
          const answers = yield* Effect.forEach(
            keys,
            (key) => World.send("GET", "/v1/organization", key === undefined ? {} : { key })
          )
          for (const { body, headers, status } of answers) {
            expect([status, headers.get("www-authenticate")]).toEqual([
              401,
              `Bearer resource_metadata="${World.baseUrl}/.well-known/oauth-protected-resource/v1"`
            ])
            expect(body).toEqual(answers[0]?.body)
            expect(body.error).toMatchObject({ type: "authentication_error", code: "invalid_api_key" })
            expect(body.error).not.toHaveProperty("param")
          }
          const basic = yield* World.send("GET", "/v1/organization", { headers: { authorization: "Basic YTpi" } })
          expect(basic.status).toBe(401)
          expect((yield* World.get("/v1/organization", good.key)).status).toBe(200)
        }))

      it.effect("S7-13: an organization that was wound down is 403 organization_closed, for every operation and role", () =>
        Effect.gen(function*() {
          const { admins } = yield* World.makeOrganization({ closed_at: new Date(0) })
          for (const { method, path } of all) {
            for (const { key } of Object.values(admins)) {
              const answer = yield* World.send(method, path.replaceAll(/:\w+/g, crypto.randomUUID()), { key })
              expect([path, ...World.refusal(answer)]).toEqual([path, 403, "organization_closed"])
            }
          }
        }))

      it.effect("S7-08: what does not exist, or is not the admin's to see, is 404 resource_missing", () =>
        Effect.gen(function*() {
          const { admins, id } = yield* World.makeOrganization()
          const other = yield* World.makeOrganization()
          const ids = [crypto.randomUUID(), yield* World.makeAccount(other.id), yield* World.makeAccount(id)]
          for (const account of ids) {
            const answer = yield* World.get(`/v1/accounts/${account}`, admins.admin.key)
            expect(World.refusal(answer)).toEqual([404, "resource_missing", "account_id"])
            expect(answer.body.error.type).toBe("not_found_error")
          }
        }))

      it.effect("S7-16: a refusal of the messenger says which it is: taken, malformed, or too long", () =>
        Effect.gen(function*() {
          const { admins, id } = yield* World.makeOrganization()
          const taken = `taken_${crypto.randomUUID().slice(0, 8)}`
          yield* World.makeLiveAccount(id, { username: taken })
          const account = yield* World.makeLiveAccount(id, { premium: false })
          const profile = `/v1/accounts/${account.id}/messenger-profile`
          const ask = (username: string) => World.put(`${profile}/username`, admins.owner.key, { username })
          const answers = [
            yield* ask(taken),
            yield* ask(taken.toUpperCase()),
            yield* ask("1abcd"),
            yield* ask("abc"),
            yield* World.patch(profile, admins.owner.key, { about: "a".repeat(71) })
          ]
          expect(answers.map(World.refusal)).toEqual([
            [409, "username_taken", "username"],
            [409, "username_taken", "username"],
            [400, "username_invalid", "username"],
            [400, "username_invalid", "username"],
            [400, "bio_too_long", "about"]
          ])
        }))
    })
  })
})
