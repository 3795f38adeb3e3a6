import { describe, expect, layer } from "@effect/vitest"
import { Effect } from "effect"
import { postgres } from "../support/postgres/database.ts"
import * as World from "../support/world.ts"

const path = "/v1/settings/notifications"
const good = JSON.stringify({ recipients: "owner_superadmins" })
const bytes = (...parts: ReadonlyArray<string | number>) =>
  new Uint8Array(Buffer.concat(parts.map((part) => typeof part === "string" ? Buffer.from(part) : Buffer.from([part]))))

const unread = [400, "parameter_invalid", "body"]
const refused = (param: string) => [400, "parameter_invalid", param]

/** Sends bodies that must all be refused alike, and shows that none of them has changed anything. */
const refuses = Effect.fnUntraced(function*(
  bodies: ReadonlyArray<string | Uint8Array<ArrayBuffer>>,
  refusal: ReadonlyArray<unknown>,
  headers: Record<string, string> = {}
) {
  const { admins, id } = yield* World.makeOrganization()
  const before = yield* World.snapshot(id)
  for (const raw of bodies) {
    const answer = yield* World.send("PUT", path, { key: admins.owner.key, raw, headers })
    expect([raw.slice(0, 80), ...World.refusal(answer)]).toEqual([raw.slice(0, 80), ...refusal])
  }
  expect(yield* World.snapshot(id)).toEqual(before)
})

describe("a request's body", () => {
  layer(World.world(postgres))((it) => {
    it.effect("S7-04: is JSON, or is refused as a whole", () =>
      refuses([
        "{",
        "}",
        "recipients=owner",
        "{recipients:\"owner\"}",
        "{'recipients':'owner'}",
        "{\"recipients\":\"owner\",}",
        "{\"recipients\":\"owner\"} {}",
        "{\"recipients\":\"owner\"}//",
        "/**/{\"recipients\":\"owner\"}",
        "{\"recipients\":undefined}",
        "{\"recipients\":NaN}",
        "{\"recipients\":\"ow\nner\"}",
        "\u0000"
      ], unread))

    it.effect("S7-04: is an object, and nothing else that JSON knows", () =>
      refuses(["[]", "[{\"recipients\":\"owner\"}]", "null", "true", "1", "\"recipients\""], unread))

    it.effect("S7-04: has the members that the operation takes, each once, with values of their type", () =>
      Effect.gen(function*() {
        yield* refuses(
          ["{}", "{\"recipients\":null}", "{\"recipients\":1}", "{\"recipients\":[\"owner\"]}"],
          refused("recipients")
        )
        yield* refuses(["{\"recipients\":\"everyone\"}", "{\"recipients\":\"Owner\"}"], refused("recipients"))
        yield* refuses(["{\"recipients\":\"owner\",\"extra\":1}", "{\"extra\":1}"], refused("extra"))
        yield* refuses(["{\"Recipients\":\"owner\"}"], refused("Recipients"))
        yield* refuses([
          "{\"recipients\":\"owner\",\"recipients\":\"owner\"}",
          "{\"recipients\":\"owner\",\"\\u0072ecipients\":\"owner_superadmins\"}"
        ], refused("recipients"))
        yield* refuses(["{\"recipients\":{\"a\":1,\"a\":2}}"], refused("a"))
      }))

    it.effect("S7-04: cannot reach into objects by the names of their machinery", () =>
      Effect.gen(function*() {
        for (const name of ["__proto__", "constructor", "prototype", "toString", "hasOwnProperty"]) {
          yield* refuses([
            `{"${name}":{"recipients":"owner_superadmins"}}`,
            `{"recipients":"owner_superadmins","${name}":null}`
          ], refused(name))
        }
        expect(Object.hasOwn(Object.prototype, "recipients")).toBe(false)
      }))

    it.effect("S7-04: is refused as a body where the member at fault has no name to name", () =>
      refuses([
        "{\"recipients\":\"owner\",\"\":1}",
        "{\"recipients\":\"owner\",\"\":1,\"\":2}",
        "{\"recipients\":{\"\":1,\"\":2}}"
      ], refused("body")))

    it.effect("is refused when it names a member of the path", () =>
      Effect.gen(function*() {
        const { admins, id } = yield* World.makeOrganization()
        const [one, other] = [yield* World.makeAccount(id), yield* World.makeAccount(id)]
        const label = `/v1/accounts/${one}/role-label`
        const answer = yield* World.put(label, admins.owner.key, { role_label: "Pilot", account_id: other })
        expect(World.refusal(answer)).toEqual(refused("account_id"))
      }))

    it.effect("is refused with the name of the header when it is no application/json, or encoded", () =>
      Effect.gen(function*() {
        for (
          const type of [
            "text/plain",
            "application/x-www-form-urlencoded",
            "multipart/form-data; boundary=x",
            "application/jsonp",
            "application/json, text/plain",
            "application/json; charset=iso-8859-1",
            "application/json; boundary=x",
            ""
          ]
        ) {
          yield* refuses([good], refused("Content-Type"), { "content-type": type })
        }
        yield* refuses([good], refused("Content-Encoding"), { "content-encoding": "gzip" })
        const { admins } = yield* World.makeOrganization()
        for (const type of ["application/json; charset=utf-8", "Application/JSON;charset=\"UTF-8\""]) {
          const headers = { "content-type": type, "content-encoding": "identity" }
          const answer = yield* World.send("PUT", path, { key: admins.owner.key, raw: good, headers })
          expect([type, answer.status]).toEqual([type, 200])
        }
      }))

    it.effect("may be 64 KiB large, and is refused from the next byte on", () =>
      Effect.gen(function*() {
        const { admins } = yield* World.makeOrganization()
        const largest = good.padEnd(64 * 1024)
        expect((yield* World.send("PUT", path, { key: admins.owner.key, raw: largest })).status).toBe(200)
        yield* refuses([`${largest} `, "x".repeat(1024 * 1024)], unread)
        yield* refuses([`${largest} `], unread, { "content-length": "10" })
      }))

    it.effect("is UTF-8, or is refused", () =>
      refuses([
        bytes("{\"recipients\":\"", 0xff, "\"}"),
        bytes("{\"recipients\":\"owner\"", 0xc3),
        bytes("{\"recipients\":\"", 0xed, 0xa0, 0x80, "\"}"),
        bytes("{\"recipients\":\"", 0xc0, 0xaf, "\"}"),
        new Uint8Array(Buffer.from(good, "utf16le"))
      ], unread))

    it.effect("is refused however deep it is nested", () =>
      Effect.gen(function*() {
        for (const depth of [10, 1_000, 30_000]) {
          const { admins } = yield* World.makeOrganization()
          for (const raw of [`{"recipients":${"[".repeat(depth)}${"]".repeat(depth)}}`, "[".repeat(depth)]) {
            const answer = yield* World.send("PUT", path, { key: admins.owner.key, raw })
            expect([depth, answer.status, answer.body.error.code]).toEqual([depth, 400, "parameter_invalid"])
          }
        }
      }))

    it.effect("carries no NUL, no other control character but newline, and no half of a surrogate pair", () =>
      Effect.gen(function*() {
        const { admins, id } = yield* World.makeOrganization()
        const account = yield* World.makeAccount(id)
        const label = `/v1/accounts/${account}/role-label`
        const before = yield* World.snapshot(id)
        for (
          const text of ["a\\u0000b", "\\u0007", "\\u001b[31m", "\\u0085", "\\ud800", "\\udc00\\ud800", "x\\udfff"]
        ) {
          const answer = yield* World.send("PUT", label, { key: admins.owner.key, raw: `{"role_label":"${text}"}` })
          expect([text, ...World.refusal(answer)]).toEqual([text, ...refused("role_label")])
        }
        expect(yield* World.snapshot(id)).toEqual(before)
        const pair = yield* World.send("PUT", label, {
          key: admins.owner.key,
          raw: "{\"role_label\":\"\\ud83d\\ude00\\n\"}"
        })
        expect([pair.status, pair.body.role_label]).toEqual([200, "😀"])
      }))

    it.effect("may be missing or empty where the operation takes none, and has no members there", () =>
      Effect.gen(function*() {
        const { admins, id } = yield* World.makeOrganization()
        const account = yield* World.makeAccount(id)
        const ask = (verb: string, asking: World.Asking) =>
          World.send("POST", `/v1/accounts/${account}/${verb}`, { key: admins.owner.key, ...asking })
        expect(World.refusal(yield* ask("pause", { body: { account_id: account } }))).toEqual(refused("account_id"))
        expect(World.refusal(yield* ask("pause", { body: [] }))).toEqual(unread)
        expect((yield* ask("pause", {})).status).toBe(200)
        expect((yield* ask("resume", { body: {} })).status).toBe(200)
        const get = yield* World.send("GET", "/v1/organization", { key: admins.owner.key, body: { a: 1 } })
        expect(World.refusal(get)).toEqual(refused("a"))
      }))

    it.effect("does not come back in the refusal, for it may hold a secret", () =>
      Effect.gen(function*() {
        const { admins } = yield* World.makeOrganization()
        for (const raw of ["{\"recipients\":\"hunter2\"}", "{\"recipients\":{\"hunter2\":1}}", "hunter2"]) {
          const answer = yield* World.send("PUT", path, { key: admins.owner.key, raw })
          expect([answer.status, JSON.stringify(answer.body).includes("hunter2")]).toEqual([400, false])
        }
      }))
  })
})
