import { describe, expect, it, layer } from "@effect/vitest"
import { Effect, Result } from "effect"
import * as crypto from "node:crypto"
import { maxFormSize, maxParameters } from "../../src/domain/oauth/OAuth.ts"
import { parse } from "../../src/oauth/Parameters.ts"
import * as Pages from "../support/http/pages.ts"
import { postgres } from "../support/postgres/database.ts"
import { recording } from "../support/postgres/statements.ts"
import * as World from "../support/world.ts"
import { challengeOf, formHeaders, query, refused, registerApplication } from "./support.ts"

const names = (count: number) => Array.from({ length: count }, (_, at) => `n${at}=1`).join("&")
const sized = (size: number) => `n=${"x".repeat(size - 2)}`

const invalid = [400, "invalid_request"]

/** Posts a body of pieces, as slowly as it is read, and answers the status and how much of it was read. */
const pour = Effect.fnUntraced(function*(path: string, headers: Record<string, string> = {}) {
  const handler = yield* World.handlerHere
  const piece = new TextEncoder().encode("x".repeat(1024))
  let read = 0
  const body = new ReadableStream<Uint8Array>({
    pull: (controller) => {
      read += piece.length
      if (read > 256 * 1024) controller.close()
      else controller.enqueue(piece)
    }
  }, { highWaterMark: 0 })
  const init = {
    method: "POST",
    headers: { host: new URL(World.baseUrl).host, ...formHeaders, ...headers },
    body,
    duplex: "half" as const
  }
  const response = yield* Effect.promise(() => handler(new Request(`${World.baseUrl}${path}`, init)))
  return { status: response.status, read }
})

describe("the parameters of a request", () => {
  it("are read with the first value of each name, and with the names that are repeated", () => {
    const parameters = Result.getOrThrow(parse("a=1&b=&a=2&c=3&b=4&a=&%61=5&d"))
    expect(["a", "b", "c", "d", "e"].map((name) => parameters.get(name))).toEqual(
      ["1", undefined, "3", undefined, undefined]
    )
    expect(["a", "b", "e"].map((name) => parameters.all(name))).toEqual([["1", "2", "5"], ["4"], []])
    expect([...parameters.repeated].sort()).toEqual(["a", "b"])
  })

  it("are refused above 8 KiB and above 50", () => {
    expect([maxFormSize, maxParameters]).toEqual([8192, 50])
    expect(Result.isSuccess(parse(names(50)))).toBe(true)
    expect(Result.isSuccess(parse(sized(8192)))).toBe(true)
    for (const text of [names(51), sized(8193), "a&".repeat(51), "a=1&".repeat(17_000)]) {
      const parsed = parse(text)
      expect(Result.isFailure(parsed) && parsed.failure.error).toBe("invalid_request")
    }
  })

  layer(World.world(postgres))((it) => {
    it.effect("of forms for programs are refused with invalid_request, before the database is asked", () =>
      Effect.gen(function*() {
        for (const path of ["/oauth/token", "/oauth/revoke"]) {
          for (const raw of [names(51), sized(8193), names(8000)]) {
            const { answer, said } = yield* recording(World.send("POST", path, { raw, headers: formHeaders }))
            expect([path, ...refused(answer), said]).toEqual([path, ...invalid, []])
          }
        }
      }))

    it.effect("are not read further than their limit, by programs and by pages", () =>
      Effect.gen(function*() {
        for (const path of ["/oauth/token", "/oauth/revoke", "/console/sign-in"]) {
          const { read, status } = yield* pour(path, { origin: World.baseUrl })
          expect([path, status]).toEqual([path, 400])
          expect(read).toBeLessThan(2 * maxFormSize)
        }
      }))

    it.effect("of a query for authorization lead to a page, before the database is asked for the application", () =>
      Effect.gen(function*() {
        const application = yield* registerApplication()
        const asked = query(application, challengeOf("x"))
        expect((yield* Pages.visit("GET", `/oauth/authorize?${asked}`)).status).toBe(303)
        for (const more of [names(51), sized(8193)]) {
          const { answer, said } = yield* recording(Pages.visit("GET", `/oauth/authorize?${asked}&${more}`))
          expect([answer.status, answer.location]).toEqual([400, null])
          expect(answer.text).toContain("asks for more than fits into a request")
          expect(said.filter(({ sql }) => sql.includes("oauth_client"))).toEqual([])
        }
      }))

    it.effect("of a page's form are refused as too large", () =>
      Effect.gen(function*() {
        const headers = { origin: World.baseUrl }
        const many = Object.fromEntries(Array.from({ length: 51 }, (_, at) => [`n${at}`, "1"]))
        for (const form of [many, { email: "x".repeat(8192) }]) {
          const page = yield* Pages.visit("POST", "/console/sign-in", { form, headers })
          expect([page.status, page.text.includes("The form is too large.")]).toEqual([400, true])
        }
      }))

    it.effect("of the consent's form have room for all that may be ticked and one list more, and no further", () =>
      Effect.gen(function*() {
        const { admins, id } = yield* World.makeOrganization()
        const cookie = yield* Pages.signIn(id, admins.owner.id)
        const url = `/oauth/authorize?${query(yield* registerApplication(), challengeOf("x"))}`
        const { hidden } = Pages.formOf(yield* Pages.visit("GET", url, { cookie }), "/oauth/authorize")
        const tooLarge = Effect.fnUntraced(function*(account: ReadonlyArray<string>) {
          const page = yield* Pages.visit("POST", url, { cookie, form: { ...hidden, decision: "search", account } })
          return [page.status, page.text.includes("The form is too large.")]
        })
        const ids = Array.from({ length: 651 }, () => crypto.randomUUID())
        expect(yield* tooLarge(ids.slice(0, 600))).toEqual([200, false])
        expect(yield* tooLarge(ids)).toEqual([400, true])
        expect(yield* tooLarge(["x".repeat(38 * 1024)])).toEqual([400, true])
      }))
  })
})
