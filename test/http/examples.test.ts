import { describe, expect, it, layer } from "@effect/vitest"
import { Ajv2020 } from "ajv/dist/2020.js"
import { Effect, Redacted } from "effect"
import { SqlClient } from "effect/sql"
import { TestClock } from "effect/testing"
import { readFileSync } from "node:fs"
import { Caller } from "../../src/domain/people/Access.ts"
import * as Documents from "../../src/http/OpenApiDocument.ts"
import type * as Operation from "../../src/kernel/Operation.ts"
import { SimulatedPlatform } from "../../src/layers/messenger/simulated/SimulatedPlatform.ts"
import * as Loader from "../../src/layers/seed/SeedLoader.ts"
import * as Provisioning from "../../src/layers/sql/Provisioning.ts"
import { Credentials } from "../../src/ports/credentials/Credentials.ts"
import { api, operations, served } from "../added/index.ts"
import * as Mcp from "../mcp/support.ts"
import { archivePassword } from "../support/archive/archivePassword.ts"
import { pglite } from "../support/postgres/database.ts"
import { makeOwner } from "../support/preparations.ts"
import * as Random from "../support/random.ts"
import * as Repeated from "../support/repeated.ts"
import * as World from "../support/world.ts"

const all: ReadonlyArray<Operation.Any> = operations

const document: any = JSON.parse(JSON.stringify(Documents.make(served)))

const ajv = new Ajv2020({ strict: false, allErrors: true, validateFormats: false })
ajv.addSchema(document, "document")

const entries: ReadonlyArray<readonly [id: string, pointer: string, entry: any]> = Object.entries<any>(document.paths)
  .flatMap(([path, methods]) =>
    Object.entries<any>(methods).map(([method, entry]) =>
      [
        entry.operationId,
        `document#/paths/${encodeURIComponent(path.replaceAll("~", "~0").replaceAll("/", "~1"))}/${method}`,
        entry
      ] as const
    )
  )

/** What is wrong with the value by the schema at the pointer. */
const wrong = (pointer: string, value: unknown) => {
  const validate = ajv.compile({ $ref: `${pointer}/content/application~1json/schema` })
  validate(value)
  return validate.errors ?? []
}

describe("the document's examples", () => {
  it("are given for every operation's answer and body", () => {
    expect(entries.map(([id]) => id).toSorted()).toEqual(served.map(({ id }) => id).toSorted())
    for (const [id, , entry] of entries) {
      if (!("application/json" in entry.responses["200"].content)) continue
      expect([id, entry.responses["200"].content["application/json"].examples.demo.value]).toEqual([
        id,
        expect.any(Object)
      ])
      if (entry.requestBody !== undefined) {
        expect([id, entry.requestBody.content["application/json"].examples.demo.value]).toEqual([
          id,
          expect.any(Object)
        ])
      }
    }
  })

  it.each(entries.filter(([, , entry]) => "application/json" in entry.responses["200"].content))(
    "of %s are what its schemas allow",
    (_, pointer, entry) => {
      const example = entry.responses["200"].content["application/json"].examples.demo.value
      expect(wrong(`${pointer}/responses/200`, example)).toEqual([])
      expect(wrong(`${pointer}/responses/200`, { ...example, surprise: true })).not.toEqual([])
      if (entry.requestBody !== undefined) {
        const body = entry.requestBody.content["application/json"].examples.demo.value
        expect(wrong(`${pointer}/requestBody`, body)).toEqual([])
        expect(wrong(`${pointer}/requestBody`, { ...body, surprise: true })).not.toEqual([])
      }
    }
  )
})

const chance = /[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}|\b[0-9a-f]{64}\b/

/** Sealed pages are padded to 64 bytes, and drawn ids in them deflate differently. */
const isAsLarge = (sample: number, answer: number): boolean =>
  Math.abs(answer - sample) <= 1024 && (answer - sample) % 64 === 0

/** What the samples call by chance, and what it is called here: an id of one sample is the same in every other. */
const makeNames = () => {
  const names = new Map<string, string>()
  /** Throws where the two differ in more than ids and hashes, or an id is not the one that it was before. */
  const learn = (sample: unknown, answer: unknown, at = "answer"): void => {
    if (typeof sample === "string" && chance.test(sample) && typeof answer === "string") {
      expect([at, names.get(sample) ?? answer]).toEqual([at, answer])
      names.set(sample, answer)
    } else if (typeof sample === "object" && sample !== null && typeof answer === "object" && answer !== null) {
      expect([at, Object.keys(answer).toSorted()]).toEqual([at, Object.keys(sample).toSorted()])
      for (const [name, member] of Object.entries(sample)) learn(member, Reflect.get(answer, name), `${at}.${name}`)
    } else if (/\.bytes(?:_estimate)?$/.test(at) && typeof sample === "number" && typeof answer === "number") {
      expect([at, isAsLarge(sample, answer)]).toEqual([at, true])
    } else if (sample === "osc_live_...") {
      expect([at, answer]).toEqual([at, expect.stringMatching(/^osc_live_\w{49}$/)])
    } else {
      expect([at, answer]).toEqual([at, sample])
    }
  }
  const here = (value: unknown): unknown => {
    if (Array.isArray(value)) return value.map(here)
    if (typeof value === "object" && value !== null) {
      return Object.fromEntries(Object.entries(value).map(([name, member]) => [name, here(member)]))
    }
    if (typeof value !== "string" || !chance.test(value)) return value
    const name = names.get(value)
    if (name === undefined) throw new Error(`No sample before has answered ${value}`)
    return name
  }
  return { learn, here }
}

/** Whether the operation comes after those that read: it changes something, or reads what another one has made. */
const afterwards = (operation: Operation.Any) =>
  Random.changes(operation) || ["login_id", "cleanup_id", "export_id"].some((name) => name in operation.params) ||
  ["list_archive_cleanups", "list_archive_exports", "list_archive_holds"].includes(operation.id)

/** The code that the messenger has sent to the number. */
const codeFor = (platform: SimulatedPlatform["Service"], number: string) =>
  Effect.map(platform.codes, (all) => Redacted.value(all.find(({ phone }) => phone === number)!.code))

/** The code that the messenger has sent to an address, where the operation is told one. */
const addressCode = Effect.fnUntraced(function*(id: string) {
  const [, kind] = /^confirm_(recovery|login)_email$/.exec(id) ?? []
  if (kind === undefined) return {}
  const sql = yield* SqlClient.SqlClient
  const [sent] = yield* sql<{ code: string }>`
    select email_codes -> ${kind}::text ->> 'code' as code from simulated_account where email_codes ->> ${kind}::text is not null`
  return { code: sent?.code ?? "" }
})

describe("the samples", () => {
  layer(World.world(pglite))((it) => {
    it.effect("are what the demo organization answers, by every transport: first all that read, then all that change something, where a repeat changes nothing more", () =>
      Effect.gen(function*() {
        yield* TestClock.setTime(Date.parse("2026-01-15T09:00:00.000Z"))
        const seed: unknown = JSON.parse(readFileSync(new URL("../../seeds/demo.json", import.meta.url), "utf8"))
        const { keys } = yield* Loader.load(yield* Loader.decode(seed))
        const { key } = keys[0]!
        const caller = {
          ...(yield* (yield* Credentials).authenticate(key, `${World.baseUrl}/v1`)),
          via: "embedded" as const,
          ip: null,
          requestId: null,
          extras: { archivePassword: Redacted.make(archivePassword) }
        }
        const { here, learn } = makeNames()
        // Whoever hands the organization over says their password again.
        const { current_password } = api.transfer_ownership.sample.request
        yield* Provisioning.password(caller.organizationId, caller.adminId, Redacted.make(String(current_password)))
        const platform = yield* SimulatedPlatform
        for (const changing of [false, true]) {
          for (const operation of all.filter((one) => afterwards(one) === changing)) {
            if (changing) yield* TestClock.adjust("1 minute")
            const { id, sample } = operation
            // Ownership was transferred by a sample before.
            if (changing && operation.roles.every((role) => role === "owner") && id !== "transfer_ownership") {
              yield* makeOwner(caller.organizationId, caller.adminId)
            }
            const input = {
              ...Object.fromEntries(Object.entries(sample.request).map(([name, value]) => [name, here(value)])),
              ...(id === "submit_login_code"
                ? { code: yield* codeFor(platform, "31612340022") }
                : yield* addressCode(id))
            }
            const { body, status } = operation.idempotent
              ? yield* Random.send(Random.draw({ operation: id, members: input }, Random.noIds), key)
              : yield* Repeated.keyed(operation, input, key)
            expect([id, status, body]).toEqual([id, 200, expect.anything()])
            const { content_notice, ...answer } = body
            expect([id, content_notice !== undefined]).toEqual([id, operation.thirdPartyText])
            learn(sample.answer, answer, id)
            if (Random.changes(operation)) {
              const faults = yield* Repeated.faults(operation, input, {
                body,
                organizationId: caller.organizationId,
                key
              })
              expect([id, ...faults]).toEqual([id])
            }
            if (changing) continue
            const tool = Mcp.resultOf(yield* Mcp.call(id, input, { key }))
            expect([id, tool.how, tool.body]).toEqual([id, "done", body])
            const embedded = yield* Effect.provideService(operation.call(input), Caller, caller)
            expect([id, JSON.parse(JSON.stringify(embedded))]).toEqual([id, body])
          }
        }
      }))
  })
})

describe("the document", () => {
  it("says in a sentence what each area and each parameter is about", () => {
    for (const { description, name } of document.tags) {
      expect([name, description]).toEqual([name, expect.stringMatching(/\.$/)])
    }
    for (const [id, , entry] of entries) {
      for (const { description, name } of entry.parameters) {
        expect([id, name, description]).toEqual([id, name, expect.stringMatching(/\.$/)])
      }
    }
  })
})
