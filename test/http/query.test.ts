import { describe, expect, layer } from "@effect/vitest"
import { Effect } from "effect"
import * as crypto from "node:crypto"
import type * as Operation from "../../src/kernel/Operation.ts"
import { operations } from "../added/index.ts"
import { postgres } from "../support/postgres/database.ts"
import * as World from "../support/world.ts"

const all: ReadonlyArray<Operation.Any> = operations
const refused = (param: string) => [400, "parameter_invalid", param]

/** Asks each address with an owner's credential, and expects the refusal to name the parameter. */
const refuses = Effect.fnUntraced(function*(param: string, addresses: ReadonlyArray<string>) {
  const { admins } = yield* World.makeOrganization()
  for (const address of addresses) {
    expect([address, ...World.refusal(yield* World.get(address, admins.owner.key))]).toEqual([
      address,
      ...refused(param)
    ])
  }
})

describe("a request's query", () => {
  layer(World.world(postgres))((it) => {
    it.effect("S7-04: has only parameters that the operation knows", () =>
      Effect.gen(function*() {
        yield* refuses("unknown", [
          "/v1/accounts?unknown=1",
          "/v1/accounts?limit=5&unknown",
          "/v1/organization?unknown="
        ])
        yield* refuses("LIMIT", ["/v1/accounts?LIMIT=5"])
        yield* refuses("limit[]", ["/v1/accounts?limit[]=5", "/v1/accounts?limit%5B%5D=5"])
        yield* refuses("limit", ["/v1/organization?limit=5"])
        for (const name of ["__proto__", "constructor", "toString"]) yield* refuses(name, [`/v1/accounts?${name}=1`])
      }))

    it.effect("S7-04: every operation refuses a parameter that it does not know", () =>
      Effect.gen(function*() {
        const { admins, id } = yield* World.makeOrganization()
        const account = yield* World.makeAccount(id)
        for (const operation of all) {
          const path = operation.path.replaceAll(/:\w+/g, account)
          const answer = yield* World.send(operation.method, `${path}?unknown=1`, { key: admins.owner.key })
          expect([operation.id, ...World.refusal(answer)]).toEqual([operation.id, ...refused("unknown")])
        }
      }))

    it.effect("S7-04: gives each parameter once", () =>
      refuses("limit", [
        "/v1/accounts?limit=5&limit=5",
        "/v1/accounts?limit=5&status=paused&limit=6",
        "/v1/accounts?limit=5&%6Cimit=6"
      ]))

    it.effect("S7-04: is percent-encoded UTF-8", () =>
      Effect.gen(function*() {
        yield* refuses(
          "status",
          ["%", "%z", "%zz", "%ff", "%C3%28", "%ED%A0%80", "%C0%AF"].map((text) => `/v1/accounts?status=${text}`)
        )
        yield* refuses("query", [
          "/v1/accounts?%=1",
          "/v1/accounts?limit=5&%ff=1",
          "/v1/accounts?=1",
          "/v1/accounts?limit=5&="
        ])
        yield* refuses("status", ["/v1/accounts?status=%00", "/v1/accounts?status=protected%00"])
      }))

    it.effect("writes whole numbers in digits alone", () =>
      refuses(
        "limit",
        [
          "",
          "0",
          "101",
          "-1",
          "+5",
          "1e1",
          "5.0",
          "05",
          "0x5",
          " 5",
          "%205",
          "5%20",
          "٥",
          "NaN",
          "null",
          "9007199254740993",
          "1".repeat(400)
        ]
          .map((text) => `/v1/accounts?limit=${text}`)
      ))

    it.effect("names what is at fault in an id too, however it is malformed", () =>
      Effect.gen(function*() {
        const id = crypto.randomUUID()
        const malformed = [
          "x",
          "1",
          "null",
          `${id}0`,
          id.replaceAll("-", ""),
          `{${id}}`,
          `${id}%00`,
          "%00",
          "a".repeat(5_000)
        ]
        yield* refuses("account_id", malformed.map((text) => `/v1/accounts/${text}`))
        yield* refuses("starting_after", ["", ...malformed].map((text) => `/v1/accounts?starting_after=${text}`))
        yield* refuses("department_id", malformed.map((text) => `/v1/accounts?department_id=${text}`))
        yield* refuses("event_id", malformed.map((text) => `/v1/journal/${text}`))
      }))

    it.effect("takes what is written otherwise but means the same", () =>
      Effect.gen(function*() {
        const { admins, id } = yield* World.makeOrganization()
        const account = yield* World.makeAccount(id)
        for (
          const address of [
            "/v1/accounts?",
            "/v1/accounts?&",
            "/v1/accounts?limit=5&",
            "/v1/accounts?%6Cimit=%35",
            `/v1/accounts?limit=5&starting_after=${account.toUpperCase()}`,
            `/v1/accounts/${account.toUpperCase()}`,
            `/v1/accounts/${account.replaceAll("-", "%2D")}`
          ]
        ) {
          expect([address, (yield* World.get(address, admins.owner.key)).status]).toEqual([address, 200])
        }
      }))
  })
})
