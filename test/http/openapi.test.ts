import { describe, expect, it, layer } from "@effect/vitest"
import { Effect, type Schema, SchemaAST } from "effect"
import { failureTypes } from "../../src/domain/Failure.ts"
import { Scope } from "../../src/domain/people/Access.ts"
import * as Documents from "../../src/http/OpenApiDocument.ts"
import type * as Operation from "../../src/kernel/Operation.ts"
import { served as operations } from "../added/index.ts"
import { postgres } from "../support/postgres/database.ts"
import * as Random from "../support/random.ts"
import * as World from "../support/world.ts"

const all: ReadonlyArray<Operation.Any> = operations

/** The document as a client reads it. */
const document: any = JSON.parse(JSON.stringify(Documents.make(operations)))

const entries: ReadonlyArray<{ readonly path: string; readonly method: string; readonly entry: any }> = Object
  .entries<any>(document.paths)
  .flatMap(([path, methods]) => Object.entries(methods).map(([method, entry]) => ({ path, method, entry })))

const entryOf = (id: string): any => entries.find(({ entry }) => entry.operationId === id)?.entry

/** Every object in the document, with where it stands. */
const walk = function*(value: any, at = "#"): Generator<readonly [at: string, value: any]> {
  if (typeof value !== "object" || value === null) return
  yield [at, value]
  for (const [name, member] of Object.entries(value)) yield* walk(member, `${at}/${name}`)
}

const resolve = (schema: any): any =>
  schema.$ref === undefined
    ? schema
    : schema.$ref.slice(2).split("/").reduce((part: any, name: string) => part?.[name], document)

const alternatives = (schema: any): ReadonlyArray<any> => (schema.anyOf ?? [schema]).map(resolve)

const bodyOf = (id: string): any => entryOf(id).requestBody.content["application/json"].schema

describe("the OpenAPI document", () => {
  layer(World.world(postgres))((it) => {
    it.effect("S9-01: is version 1.2.0 of the interface in OpenAPI 3.1.0, and is served to everyone", () =>
      Effect.gen(function*() {
        const answer = yield* World.send("GET", "/openapi.json")
        expect(answer.status).toBe(200)
        expect(answer.headers.get("content-type")).toBe("application/json")
        expect(answer.body).toEqual(document)
        expect(document).toMatchObject({ openapi: "3.1.0", info: { version: "1.2.0" } })
      }))

    it.effect("S7-01: has as examples of errors what the service answers", () =>
      Effect.gen(function*() {
        const organization = yield* World.makeOrganization()
        const { admin, owner } = organization.admins
        const reading = yield* World.makeKey(organization.id, owner.id, ["org:read"])
        const account = yield* World.makeAccount(organization.id)
        const exampleOf = (code: string) =>
          Object.values<any>(document.components.responses).flatMap(({ content }) => {
            const example = content["application/json"].examples[code]
            return example === undefined ? [] : [example.value]
          })
        const asked: ReadonlyArray<readonly [code: string, method: string, path: string, asking: World.Asking]> = [
          ["invalid_api_key", "GET", "/v1/organization", { key: "wrong" }],
          ["parameter_invalid", "GET", "/v1/accounts?limit=101", { key: owner.key }],
          ["insufficient_scope", "POST", `/v1/accounts/${account}/pause`, { key: reading.key }],
          ["superadmin_required", "PUT", "/v1/settings/notifications", { key: admin.key, body: {} }],
          ["not_paused", "POST", `/v1/accounts/${account}/resume`, { key: owner.key }]
        ]
        for (const [code, method, path, asking] of asked) {
          const { body } = yield* World.send(method, path, asking)
          const examples = exampleOf(code)
          expect([code, examples.length > 0]).toEqual([code, true])
          for (const example of examples) expect(body).toEqual(example)
        }
      }))
  })

  it("S9-01: is valid: what OpenAPI requires of each part is there", () => {
    expect(Object.keys(document).toSorted()).toEqual(
      ["components", "info", "openapi", "paths", "security", "servers", "tags"]
    )
    expect(document.info).toMatchObject({ title: expect.any(String), license: { name: "MIT", identifier: "MIT" } })
    const tags = document.tags.map(({ name }: any) => name)
    expect(new Set(tags).size).toBe(tags.length)
    for (const { entry, path } of entries) {
      expect(tags).toEqual(expect.arrayContaining(entry.tags))
      for (const requirement of [...entry.security, ...document.security]) {
        expect(Object.keys(document.components.securitySchemes)).toEqual(
          expect.arrayContaining(Object.keys(requirement))
        )
      }
      const inPath = entry.parameters.filter((parameter: any) => parameter.in === "path")
      expect(inPath.map(({ name }: any) => `{${name}}`)).toEqual(path.match(/\{\w+\}/g) ?? [])
      for (const parameter of entry.parameters) {
        expect(["path", "query", "header"]).toContain(parameter.in)
        expect(parameter.required).toEqual(parameter.in === "path" ? true : expect.any(Boolean))
        expect(parameter.schema).toEqual(expect.any(Object))
      }
      for (const [status, shared] of Object.entries<any>(entry.responses)) {
        const response = resolve(shared)
        expect(status).toMatch(/^[2-5]\d\d$/)
        expect(response.description).toEqual(expect.any(String))
        const { content } = all.find(({ id }) => id === entry.operationId)!
        expect(Object.keys(response.content)).toEqual([
          status.startsWith("2") ? content?.mediaType ?? "application/json" : "application/json"
        ])
      }
    }
    for (const [at, value] of walk(document)) {
      expect([at, "nullable" in value && !at.endsWith("/properties")]).toEqual([at, false])
    }
  })

  it("has no reference that leads nowhere, and no schema that nothing refers to", () => {
    const references = [...walk(document)].flatMap(([, value]) => typeof value.$ref === "string" ? [value.$ref] : [])
    expect(references.length).toBeGreaterThan(50)
    for (const reference of references) {
      expect(reference).toMatch(/^#\/components\/(?:schemas\/[a-z_]+|responses\/[a-z_.]+|headers\/[A-Za-z-]+)$/)
      expect([reference, resolve({ $ref: reference })]).toEqual([reference, expect.any(Object)])
    }
    const { headers, responses, schemas } = document.components
    for (const [kind, components] of Object.entries({ headers, responses, schemas })) {
      for (const name of Object.keys(components)) expect(references).toContain(`#/components/${kind}/${name}`)
    }
  })

  it("S1-13, S9-02: has every operation once, at its method and path under /v1, and nothing else", () => {
    expect(entries.map(({ entry }) => entry.operationId).toSorted()).toEqual(all.map(({ id }) => id).toSorted())
    for (const { description, destructive, id, method, path, roles, scope, summary } of all) {
      const template = path.replaceAll(/:(\w+)/g, "{$1}")
      expect(template).toMatch(/^\/v1\//)
      const entry = document.paths[template]?.[method.toLowerCase()]
      expect(entry).toMatchObject({ operationId: id, "x-scope": scope, "x-roles": roles })
      expect(entry.security).toEqual([{ bearer: [] }, { oauth2: [scope] }])
      // A title for the list, and below it what is done, the scope and the roles.
      expect(entry.summary).toMatch(/^[A-Z][A-Za-z ]{5,38}$/)
      expect(entry.summary.toLowerCase().replaceAll(" ", "_")).toBe(id)
      const [text, access, care] = entry.description.split("\n\n")
      expect(text).toBe([summary, ...(description === undefined ? [] : [description])].join(" "))
      expect(access).toContain(`\`${scope}\``)
      expect(access.match(/(?<=`)(?:owner|superadmin|admin|billing|archive)(?=`)/g) ?? []).toEqual(
        roles.length === 5 ? [] : roles
      )
      expect(entry["x-destructive"]).toBe(destructive ? true : undefined)
      if (destructive) expect(care).toMatch(/^\*\*Destructive\*\* Show .* what .* which account, and get confirmation/)
      else expect(care).toBeUndefined()
    }
  })

  it("S7-01: has for every operation each status that it fails with, and there exactly its codes in the envelope", () => {
    for (const { content, failures, id } of all) {
      const entry = entryOf(id)
      const statuses = new Set(failures.map(({ status }) => String(status)))
      const successes = content?.ranges === true ? ["200", "206"] : ["200"]
      expect([id, Object.keys(entry.responses)]).toEqual([id, [...successes, ...[...statuses].toSorted()]])
      for (const status of ["400", "401", "403", "429", "500", "503"]) expect(statuses).toContain(status)
      for (const status of statuses) {
        const { examples, schema } = resolve(entry.responses[status]).content["application/json"]
        const schemas = alternatives(schema)
        const codes = schemas.map((schema) => schema.properties.error.properties.code.enum)
        const declared = failures.filter((failure) => String(failure.status) === status)
        expect([id, codes.flat().toSorted()]).toEqual([id, declared.map(({ identifier }) => identifier).toSorted()])
        // Each code has an example, which is the failure's own body.
        expect(Object.keys(examples)).toEqual(codes.flat())
        for (const [code, { value }] of Object.entries<any>(examples)) {
          expect(value.error).toMatchObject({ code, type: failureTypes[Number(status) as keyof typeof failureTypes] })
          expect(value.error.message).toMatch(/^[A-Za-z].*\.$/)
        }
        for (const schema of schemas) {
          expect(schema.required).toEqual(["error"])
          expect(schema.properties.error.required).toEqual(["type", "code", "message"])
          expect(schema.properties.error.properties.param).toMatchObject({ type: "string" })
        }
      }
    }
  })

  it("S8-05: names the headers of every answer: the request's id, the budget, the wait, the credential", () => {
    for (const { entry } of entries) {
      const keyed = entry.parameters.some(({ name }: any) => name === "Idempotency-Key")
      const isContent = all.some(({ content, id }) => id === entry.operationId && content !== undefined)
      for (const [status, shared] of Object.entries<any>(entry.responses)) {
        const { headers } = resolve(shared)
        const expected = [
          "Request-Id",
          ...(status === "200" && keyed ? ["Idempotent-Replayed"] : []),
          ...(status.startsWith("2") ? ["RateLimit-Limit", "RateLimit-Remaining", "RateLimit-Reset"] : []),
          ...(isContent && status.startsWith("2") ? ["Content-Disposition", "Accept-Ranges", "ETag"] : []),
          ...(status === "206" || status === "416" ? ["Content-Range"] : []),
          ...(status === "429" || status === "503" ? ["Retry-After"] : []),
          ...(status === "401" || status === "403" ? ["WWW-Authenticate"] : [])
        ]
        expect(Object.keys(headers)).toEqual(expected)
        for (const [name, { schema }] of Object.entries<any>(headers).map(([name, one]) => [name, resolve(one)])) {
          expect([name, schema.type]).toEqual([name, /^(?:RateLimit|Retry)/.test(name) ? "integer" : "string"])
        }
      }
    }
  })

  it("S8-06: states the limits: 1 to 100 with default 50, names 64, about 140, username 32, role_label 60", () => {
    const parameter = (id: string, name: string) => entryOf(id).parameters.find((one: any) => one.name === name)?.schema
    expect(parameter("list_protected_accounts", "limit")).toEqual(
      { type: "integer", minimum: 1, maximum: 100, default: 50 }
    )
    expect(parameter("list_journal_events", "limit")).toEqual({
      type: "integer",
      minimum: 1,
      maximum: 100,
      default: 50
    })
    expect(bodyOf("update_messenger_profile").properties).toMatchObject({
      first_name: { type: "string", maxLength: 64 },
      last_name: { type: "string", maxLength: 64 },
      about: { type: "string", maxLength: 140 }
    })
    expect(bodyOf("set_messenger_username").properties.username).toMatchObject({ type: "string", maxLength: 32 })
    expect(bodyOf("set_account_role_label").properties.role_label).toMatchObject({
      anyOf: [{ type: "string", maxLength: 60 }, { type: "null" }]
    })
  })

  it("describes every parameter and every member of a body", () => {
    for (const operation of all) {
      const entry = entryOf(operation.id)
      const bodies = entry.requestBody === undefined ? {} : bodyOf(operation.id).properties
      const described = [
        ...entry.parameters.map(({ description, name }: any) => [name, description]),
        ...Object.entries<any>(bodies).map(([name, { description }]) => [name, description])
      ]
      const inAddress = Object.keys({ ...operation.params, ...operation.query })
      expect(described.map(([name]) => name)).toEqual([
        ...inAddress,
        ...(operation.idempotent ? [] : ["Idempotency-Key"]),
        ...(operation.content?.ranges === true ? ["Range"] : []),
        ...Object.keys(operation.body)
      ])
      for (const [name, description] of described) {
        expect([operation.id, name, description]).toEqual([operation.id, name, expect.stringMatching(/^[A-Z].{8,}\.$/)])
      }
    }
  })

  it("has the media type of contents that is sent, and their ranges where their size is known before", () => {
    const contents = all.flatMap(({ content, id, sample }) => {
      if (content === undefined) return []
      const { media_type, size } = sample.answer as { readonly media_type: string; readonly size: number | null }
      expect([id, content.ranges]).toEqual([id, size !== null])
      expect([media_type, "*/*"]).toContain(content.mediaType)
      return [[id, content.mediaType]]
    })
    expect(Object.fromEntries(contents)).toEqual({
      download_file: "*/*",
      download_sealed_file: "application/octet-stream",
      download_archive_export_part: "application/zip"
    })
    expect(entryOf("download_archive_export_part").responses).not.toHaveProperty("416")
  })

  it("describes every property of every resource and of every error", () => {
    const undescribed: Array<string> = []
    for (const [at, value] of walk(document.components.schemas)) {
      if (at.endsWith("/properties")) {
        for (const [name, { description }] of Object.entries<any>(value)) {
          if (!/^.{5,}[.:]?.*\.$/.test(description ?? "")) undescribed.push(`${at}/${name}: ${description}`)
        }
      }
      expect([at, Object.hasOwn(value, "allOf")]).toEqual([at, false])
    }
    expect(undescribed).toEqual([])
  })

  it("says what an application asks for, and where: the six scopes at the addresses of the discovery", () => {
    const { authorizationUrl, refreshUrl, scopes, tokenUrl } =
      document.components.securitySchemes.oauth2.flows.authorizationCode
    expect([authorizationUrl, tokenUrl, refreshUrl]).toEqual(["/oauth/authorize", "/oauth/token", "/oauth/token"])
    expect(Object.keys(scopes)).toEqual(Scope.literals)
    for (const { scope } of all) expect(Object.keys(scopes)).toContain(scope)
    for (const text of Object.values(scopes)) expect(document.info.description).toContain(text)
  })

  it("has guides, each a section of its own", () => {
    expect(document.info.description.match(/^# .*$/gm)).toEqual(
      ["# Authentication", "# Errors", "# Paging", "# Limits", "# OAuth", "# Text of third parties"]
    )
  })

  it("stays small: an operation takes at most 4 KiB without its examples, whatever it can fail with", () => {
    const sizes = entries.map(({ entry }) => {
      const examples = entry.responses["200"].content["application/json"]?.examples ?? {}
      return [entry.operationId, JSON.stringify(entry).length - JSON.stringify(examples).length] as const
    })
    expect(sizes.filter(([, size]) => size > 4096)).toEqual([])
  })

  it("says which form a journal's action has, as the operation judges it", () => {
    const { pattern } = entryOf("list_journal_events").parameters.find((one: any) => one.name === "action").schema
    const allowed = ["account.paused", "account.*", "account", "*", "Account.paused", "account.paused.x", ""]
      .filter((action) => new RegExp(pattern, "u").test(action))
    expect(allowed).toEqual(["account.paused", "account.*"])
  })

  it("writes every parameter as it is in a URL: numbers are integers, ids are uuids", () => {
    for (const operation of all) {
      const addressed = entryOf(operation.id).parameters.filter((parameter: any) => parameter.in !== "header")
      for (const { in: place, name, required, schema } of addressed) {
        const member: Schema.Top = operation[place === "path" ? "params" : "query"][name]
        expect(required).toBe(member.ast.context?.isOptional !== true)
        const { type } = resolve(schema)
        const encoded = SchemaAST.toEncoded(member.ast)
        const written = SchemaAST.isNumber(encoded) ? "integer" : SchemaAST.isBoolean(encoded) ? "boolean" : "string"
        expect([name, type]).toEqual([name, written])
        // The messenger's own ids are no UUIDs.
        const ofMessenger = ["session", "chat", "message", "member"].includes(Random.idKindOf(operation, name) ?? "")
        if (/_id$|^starting_after$/.test(name) && !ofMessenger) {
          expect(schema).toEqual({ type: "string", format: "uuid" })
        }
      }
      const names = addressed.map(({ name }: any) => name)
      expect(names).toEqual([...Object.keys(operation.params), ...Object.keys(operation.query)])
    }
  })

  it("closes every body, and says which members are required", () => {
    for (const operation of all) {
      const members = Object.entries<Schema.Top>(operation.body)
      const { requestBody } = entryOf(operation.id)
      if (members.length === 0) {
        expect(requestBody).toBeUndefined()
        continue
      }
      const required = members.flatMap(([name, { ast }]) => ast.context?.isOptional === true ? [] : [name])
      const schema = bodyOf(operation.id)
      expect(requestBody.required).toBe(required.length > 0)
      expect(Object.keys(requestBody.content)).toEqual(["application/json"])
      expect([schema.type, Object.keys(schema.properties)]).toEqual(["object", members.map(([name]) => name)])
      expect(schema.required ?? []).toEqual(required)
      for (const [at, value] of walk(schema)) {
        if (value.type === "object") expect([at, value.additionalProperties]).toEqual([at, false])
      }
    }
  })
})
