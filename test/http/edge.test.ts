import { describe, expect, layer } from "@effect/vitest"
import { Cause, Effect, Fiber, Latch, Layer, Logger, References, Schema } from "effect"
import { TestClock } from "effect/testing"
import { failureTypes, ServiceUnavailable } from "../../src/domain/Failure.ts"
import type * as Operation from "../../src/kernel/Operation.ts"
import { Db } from "../../src/ports/Db.ts"
import { Organizations } from "../../src/ports/organization/Organizations.ts"
import { codes } from "../../src/transport/Answer.ts"
import { operations } from "../added/index.ts"
import { drawn } from "../support/drawn.ts"
import { postgres } from "../support/postgres/database.ts"
import * as World from "../support/world.ts"

const all: ReadonlyArray<Operation.Any> = operations

const id = /^req_[0-9a-hjkmnp-tv-z]{26}$/

/** What every answer of the service is, whatever was asked. */
const expectWellFormed = ({ body, headers, status }: World.Answer) => {
  expect(headers.get("request-id")).toMatch(id)
  expect(headers.get("x-content-type-options")).toBe("nosniff")
  expect(headers.get("set-cookie")).toBeNull()
  if (status === 200 || status === 204) return
  expect(headers.get("content-type")).toBe("application/json")
  expect(headers.get("cache-control")).toBe("no-store")
  const { error, ...rest } = body
  const { code, message, param, type, ...others } = error
  expect([rest, others]).toEqual([{}, {}])
  expect(codes.get(code)).toBe(status)
  expect(type).toBe((failureTypes as Record<number, string>)[status])
  expect(message).toEqual(expect.stringMatching(/^.+$/))
  if ("param" in error) expect(param).toEqual(expect.stringMatching(/^[^]+$/))
}

const Segment = Schema.Literals([
  "v1",
  "V1",
  "accounts",
  "organization",
  "journal",
  "me",
  "mail-preferences",
  "settings",
  "notifications",
  "pause",
  "",
  ".",
  "%00",
  "%zz",
  "0190a0a0-0000-7000-8000-000000000000",
  "openapi.json",
  "mcp"
])

/** Any request: one of an operation, or one of nothing. */
const Anything = Schema.Struct({
  method: Schema.Literals(["GET", "POST", "PUT", "PATCH", "DELETE", "OPTIONS"]),
  path: Schema.Union([
    Schema.Literals(all.map(({ path }) => path)),
    Schema.Array(Segment).check(Schema.isMaxLength(6))
  ]),
  query: Schema.String,
  body: Schema.NullOr(Schema.Union([Schema.String, Schema.Json])),
  role: Schema.Literals(["owner", "billing", "nobody"]),
  type: Schema.Literals(["application/json", "text/plain"])
})

describe("every answer", () => {
  layer(World.world(postgres))((it) => {
    it.effect("S7-01: to an unknown path or method is the envelope of resource_missing, before any credential", () =>
      Effect.gen(function*() {
        const { admins } = yield* World.makeOrganization()
        const unknown = [
          ["GET", "/"],
          ["GET", "/v1"],
          ["GET", "/v1/"],
          ["GET", "/v1/nothing"],
          ["GET", "/V1/organization"],
          ["GET", "/v1/Organization"],
          ["GET", "/v1/organization/"],
          ["GET", "/v1//organization"],
          ["GET", "//v1/organization"],
          ["GET", "/v1/organization;a=1"],
          ["GET", "/v1/accounts;limit=0?limit=1"],
          ["GET", "/v1/accounts/a/b/c"],
          ["GET", "/v1/accounts/%zz"],
          ["GET", "/v2/organization"],
          ["POST", "/v1/organization"],
          ["DELETE", "/v1/accounts"],
          ["PUT", "/openapi.json"],
          ["POST", "/healthz"],
          ["OPTIONS", "/healthz"]
        ] as const
        for (const [method, path] of unknown) {
          for (const asking of [{}, { key: "wrong" }, { key: admins.owner.key }]) {
            const answer = yield* World.send(method, path, asking)
            expectWellFormed(answer)
            expect([method, path, ...World.refusal(answer)]).toEqual([method, path, 404, "resource_missing"])
            const [plain = ""] = /^[\w/.-]*/.exec(path) ?? []
            expect(answer.body.error.message).toContain(`There is no ${method} ${plain.replace(/[^/]*$/, "")}`)
          }
        }
      }))

    it.effect("to a known path names in Allow the methods that it has, and to a long one only its beginning", () =>
      Effect.gen(function*() {
        const account = crypto.randomUUID()
        const known = [
          ["PATCH", "/v1/organization", "GET"],
          ["DELETE", `/v1/accounts/${account}?limit=1`, "GET"],
          ["GET", `/v1/accounts/${account}/pause`, "POST"],
          ["POST", "/v1/me/mail-preferences", "GET, PUT"]
        ] as const
        for (const [method, path, methods] of known) {
          const answer = yield* World.send(method, path)
          expect([path, answer.status, answer.headers.get("allow")]).toEqual([path, 404, methods])
          expect(answer.body.error.message).toBe(`There is no ${method} ${path.split("?", 1)[0]}, only ${methods}.`)
        }
        for (const path of ["/v1/nothing", "/v1/accounts/%zz", `/v1/${"long".repeat(1000)}`]) {
          const answer = yield* World.send("GET", path)
          expect([path, answer.headers.get("allow")]).toEqual([path, null])
          expect(answer.body.error.message.length).toBeLessThan(250)
        }
        // What is no word may be a key that stands in the wrong place.
        const misplaced = yield* World.send("GET", "/v1/accounts/osc_live_0123456789/pause/all")
        expect(misplaced.body.error.message).toBe("There is no GET /v1/accounts/.../pause/all.")
      }))

    it.effect("S9-02: is under /v1 where an operation gives it, and nowhere else", () =>
      Effect.gen(function*() {
        for (const { method, path } of all) {
          expect(path).toMatch(/^\/v1\/[a-z:]/)
          const bare = path.replace("/v1", "").replaceAll(/:\w+/g, "0190a0a0-0000-7000-8000-000000000000")
          expect((yield* World.send(method, `/v1${bare}`)).status).toBe(401)
          expect((yield* World.send(method, bare)).status).toBe(404)
        }
      }))

    it.effect("S7-01: names a parameter as it was sent, and on one line in its message", () =>
      Effect.gen(function*() {
        const { admins } = yield* World.makeOrganization()
        const refused = (name: string) =>
          Effect.map(
            World.send("PUT", "/v1/me/mail-preferences", { key: admins.owner.key, body: { [name]: true } }),
            ({ body }) => [body.error.param, body.error.message]
          )
        expect(yield* refused("a\nb")).toEqual(["a\nb", "\"a\\nb\": is not known here."])
        expect((yield* refused("\u0000"))[1]).toBe("\"\\u0000\": is not known here.")
        expect((yield* refused(" "))[1]).toBe("\" \": is not known here.")
        expect((yield* refused("\u202etimil"))[1]).toBe("\"\\u202etimil\": is not known here.")
        const { body } = yield* World.get("/v1/accounts?limit=1&%00=2", admins.owner.key)
        expect(body.error).toMatchObject({ param: "\u0000", message: "\"\\u0000\": is not known here." })
        expect(yield* refused("")).toEqual(["body", "body: a member has no name."])
        const [param, message] = yield* refused("x".repeat(300))
        expect([param, message]).toEqual(["x".repeat(300), `${"x".repeat(100)}: is not known here.`])
      }))

    it.effect.prop(
      "S7-01, S7-02, S9-04: is well-formed whatever is asked: its envelope, its type by its status, an id of its own",
      [Anything],
      ([asked]) =>
        Effect.gen(function*() {
          const { admins } = yield* World.makeOrganization()
          const path = typeof asked.path === "string" ? asked.path : `/${asked.path.join("/")}`
          const key = asked.role === "nobody" ? undefined : admins[asked.role].key
          const raw = asked.body === null
            ? undefined
            : typeof asked.body === "string"
            ? asked.body
            : JSON.stringify(asked.body)
          const answer = yield* World.send(asked.method, `${path}${asked.query === "" ? "" : `?${asked.query}`}`, {
            ...(key === undefined ? {} : { key }),
            ...(raw === undefined ? {} : { raw }),
            headers: { "content-type": asked.type }
          })
          expectWellFormed(answer)
          expect(answer.status).toBeLessThan(500)
        }),
      { ...drawn(400), timeout: 60_000 }
    )

    it.effect("S9-04: has an id that no other answer has, and that the journal keeps with what was done", () =>
      Effect.gen(function*() {
        const { admins, id: organizationId } = yield* World.makeOrganization()
        const account = yield* World.makeAccount(organizationId)
        const done = yield* World.send("POST", `/v1/accounts/${account}/pause`, {
          key: admins.owner.key,
          headers: { "request-id": "req_chosen_by_the_client" }
        })
        const requestId = done.headers.get("request-id")
        expect(requestId).toMatch(id)
        expect((yield* World.journal(organizationId)).map(({ request_id }) => request_id)).toEqual([requestId])
        const { headers } = yield* World.post(`/v1/accounts/${account}/resume`, admins.owner.key)
        expect(headers.get("request-id")).not.toBe(requestId)
      }))

    it.effect("is for the caller alone: no cache keeps it, and no cookie comes with it", () =>
      Effect.gen(function*() {
        const { admins } = yield* World.makeOrganization()
        const { headers } = yield* World.get("/v1/organization", admins.owner.key)
        expect(headers.get("cache-control")).toBe("no-store")
        expect(headers.get("set-cookie")).toBeNull()
      }))
  })
})

describe("what goes wrong inside", () => {
  const secret = "the table hunter2 is on fire"
  const broken = Layer.merge(
    World.world(postgres),
    Layer.succeed(
      Organizations,
      Organizations.of({
        facts: () => Effect.die(new Error(secret)),
        lock: () => Effect.die(secret),
        lockRecipients: () => Effect.die(secret),
        setRecipients: () => Effect.die(secret),
        lockFacts: () => Effect.die(secret),
        setLockdown: () => Effect.die(secret)
      })
    )
  )
  layer(broken)((it) => {
    it.effect("S7-10: answers 500 as api_error in the same body, and says nothing of the reason but in the log", () =>
      Effect.gen(function*() {
        const { admins } = yield* World.makeOrganization()
        const lines: Array<{ readonly cause: string; readonly requestId: unknown }> = []
        const logger = Logger.make(({ cause, fiber, logLevel }) => {
          if (logLevel !== "Error") return
          lines.push({
            cause: Cause.pretty(cause),
            requestId: fiber.getRef(References.CurrentLogAnnotations)["request_id"]
          })
        })
        for (const method of ["GET", "PUT"] as const) {
          const answer = yield* World.send(method, "/v1/settings/notifications", {
            key: admins.owner.key,
            ...(method === "PUT" ? { body: { recipients: "owner" } } : {})
          }).pipe(Effect.provide(Logger.layer([logger])))
          expectWellFormed(answer)
          expect(answer).toMatchObject({
            status: 500,
            body: {
              error: { type: "api_error", code: "internal_error", message: "Something went wrong on the server." }
            }
          })
          expect(JSON.stringify([answer.body, ...answer.headers])).not.toContain("hunter2")
          const line = lines.pop()
          expect(line?.cause).toContain(secret)
          expect(line?.requestId).toBe(answer.headers.get("request-id"))
        }
      }))
  })

  const away = Db.of({
    transaction: () => Effect.fail(new ServiceUnavailable({})),
    read: () => Effect.fail(new ServiceUnavailable({})),
    check: Effect.fail(new ServiceUnavailable({}))
  })

  layer(World.world(postgres))((it) => {
    it.effect("S7-10: answers 503 as api_error with Retry-After while the database is away, and readyz says so", () =>
      Effect.gen(function*() {
        const { admins } = yield* World.makeOrganization()
        expect(yield* World.send("GET", "/readyz")).toMatchObject({ status: 200, body: { status: "ok" } })
        yield* Effect.gen(function*() {
          const answer = yield* World.get("/v1/organization", admins.owner.key)
          expectWellFormed(answer)
          expect(answer).toMatchObject({
            status: 503,
            body: { error: { type: "api_error", code: "service_unavailable" } }
          })
          expect(answer.headers.get("retry-after")).toBe("5")
          expect(yield* World.send("GET", "/readyz")).toMatchObject({ status: 503, body: { status: "unavailable" } })
          expect(yield* World.send("GET", "/healthz")).toMatchObject({ status: 200, body: { status: "ok" } })
        }).pipe(Effect.provideService(Db, away))
      }))

    it.effect("readyz asks the database once a second at most, however many ask it, together or one after the other", () =>
      Effect.gen(function*() {
        let asked = 0
        const answered = yield* Latch.make()
        const check = Effect.andThen(Effect.sync(() => void (asked += 1)), answered.await)
        const prepared = yield* Effect.provideService(World.webHandler, Db, Db.of({ ...away, check }))
        const ready = Effect.provideService(World.send("GET", "/readyz"), World.Prepared, prepared)
        const together = yield* Effect.forEach(
          [1, 2, 3],
          () => Effect.forkChild(ready, { startImmediately: true })
        )
        // One that goes away takes the question from nobody else.
        yield* Fiber.interrupt(together[0]!)
        yield* answered.open
        for (const one of together.slice(1)) expect((yield* Fiber.join(one)).status).toBe(200)
        expect((yield* ready).status).toBe(200)
        expect(asked).toBe(1)
        yield* TestClock.adjust("1 second")
        expect((yield* ready).status).toBe(200)
        expect(asked).toBe(2)
      }))
  })
})
