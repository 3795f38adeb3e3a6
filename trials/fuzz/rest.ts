/** Requests of every operation of the document, and what is done to their path, query, body and credential. */
import * as fc from "fast-check"
import type { Any as Declaration } from "../../src/kernel/Operation.ts"
import { operations as declarations } from "../../src/operations/index.ts"
import { document, type JsonSchema } from "../../test/support/documented.ts"
import * as Random from "../../test/support/random.ts"
import * as World from "../../test/support/world.ts"
import { type Spoilt, spoilt } from "./bodies.ts"
import { type Case, isRequest, keyOf, text, type Who } from "./case.ts"
import * as Members from "./members.ts"
import { boundary, judge, valid } from "./schema.ts"
import type { Stage } from "./stage.ts"
import { badPercent, oddNumber, oddText, unknownName } from "./texts.ts"

interface Parameter {
  readonly name: string
  readonly in: "path" | "query" | "header"
  readonly required?: boolean
  readonly schema: JsonSchema
}

interface Operation {
  readonly id: string
  readonly method: string
  readonly path: string
  readonly parameters: ReadonlyArray<Parameter>
  readonly body: JsonSchema | undefined
}

interface Declared {
  readonly operationId: string
  readonly parameters?: ReadonlyArray<Parameter>
  readonly requestBody?: { readonly content: { readonly "application/json": { readonly schema: JsonSchema } } }
}

const operations: ReadonlyArray<Operation> = Object.entries(document.paths).flatMap(([path, methods]) =>
  Object.entries(methods as Readonly<Record<string, Declared>>).map(([method, declared]) => ({
    id: declared.operationId,
    method: method.toUpperCase(),
    path,
    parameters: declared.parameters ?? [],
    body: declared.requestBody?.content["application/json"].schema
  }))
)

const all: ReadonlyArray<Declaration> = declarations
const declared = new Map(all.map((operation) => [operation.id, operation]))

/** What an id of the name may be in a request of the operation, so that requests meet what there is, and what is another's. */
export const idsOf = (stage: Stage, operation: string) => (name: string): ReadonlyArray<string> => {
  const of = declared.get(operation)
  const kind = of === undefined ? undefined : Random.idKindOf(of, name)
  return kind === undefined ? [] : stage.ids[kind]
}

const destructive = all.filter((operation) => operation.destructive).map(({ method, path }) => ({
  method,
  path: new RegExp(`^${path.replaceAll(/:\w+/g, "[^/]+")}$`)
}))

/** Whether the case asks for a destructive operation. */
export const isDestructive = ({ sent, surface }: Case): boolean =>
  surface === "REST" && isRequest(sent) &&
  destructive.some(({ method, path }) => method === sent.method && path.test(sent.target.split("?", 1)[0] ?? ""))

/** The text of a value that is written as JSON. */
const textOf = (value: string): string => String(JSON.parse(`[${value}]`)[0])

interface Target {
  readonly path: string
  readonly query: ReadonlyArray<string>
  readonly headers: ReadonlyArray<Header>
  readonly kinds: ReadonlyArray<string>
  readonly fate: Case["fate"]
  readonly blame: ReadonlyArray<string>
}

type Header = readonly [string, string]

type Change = (target: Target) => Target

const onQuery = (
  kind: string,
  fate: Case["fate"],
  blame: ReadonlyArray<string>,
  pairs: (query: Target["query"]) => Target["query"]
): Change =>
(target) => ({
  ...target,
  query: pairs(target.query),
  kinds: [...target.kinds, kind],
  fate: Members.worse(target.fate, fate),
  blame: [...target.blame, ...blame]
})

const onPath =
  (kind: string, fate: Case["fate"], blame: ReadonlyArray<string>, write: (path: string) => string): Change =>
  (target) => ({
    ...target,
    path: write(target.path),
    kinds: [...target.kinds, kind],
    fate: Members.worse(target.fate, fate),
    blame: [...target.blame, ...blame]
  })

const digits = /^-?(?:0|[1-9][0-9]*)$/

/** What has to become of a parameter's text: a number is written in digits alone. */
const judgeText = (schema: JsonSchema, value: string): Case["fate"] =>
  schema.type === "integer"
    ? digits.test(value) ? judge(schema, value) : "refused"
    : judge(schema, JSON.stringify(value))

const without = (name: string) => (query: Target["query"]) => query.filter((pair) => !pair.startsWith(`${name}=`))

const queryChanges = ({ parameters }: Operation): ReadonlyArray<fc.Arbitrary<Change>> => {
  const known = parameters.filter((parameter) => parameter.in === "query")
  const one = fc.nat().map((at) => known[at % known.length]).filter((parameter) => parameter !== undefined)
  return [
    unknownName.filter((name) => !known.some((parameter) => parameter.name === name) && name.isWellFormed()).map((
      name
    ) =>
      onQuery("unknown parameter", "refused", [name === "" ? "query" : name], (query) => [
        ...query,
        `${encodeURIComponent(name)}=1`
      ])
    ),
    badPercent.map((bad) =>
      onQuery("bad percent-encoding", "refused", ["query", bad, "x"], (query) => [...query, `${bad}=1`, `x=${bad}`])
    ),
    fc.constantFrom("=", "=1", "&", "&&", "?", "a[]=1", "a[b]=1", "a.b=1").map((pair) =>
      onQuery("odd query", "either", ["query", "?", "a[]", "a[b]", "a.b"], (query) => [...query, pair])
    ),
    ...(known.length === 0 ? [] : [
      fc.tuple(one, oddText.filter((value) => value.isWellFormed())).map(([{ name, schema }, value]) =>
        onQuery("odd text", judgeText(schema, value), [name], (query) => [
          ...without(name)(query),
          `${name}=${encodeURIComponent(value)}`
        ])
      ),
      fc.tuple(one, oddNumber).map(([{ name, schema }, value]) =>
        onQuery("odd number", judgeText(schema, value), [name], (query) => [
          ...without(name)(query),
          `${name}=${encodeURIComponent(value)}`
        ])
      ),
      ...known.flatMap(({ name, schema }) => {
        const values = boundary(schema)
        return values === undefined ? [] : [
          values.map((value) => String(JSON.parse(value))).map((value) =>
            onQuery("boundary", judgeText(schema, value), [name], (query) => [
              ...without(name)(query),
              `${name}=${encodeURIComponent(value)}`
            ])
          )
        ]
      }),
      fc.tuple(one, badPercent).map(([{ name }, bad]) =>
        onQuery("bad percent-encoding", "refused", [name], (query) => [...without(name)(query), `${name}=${bad}`])
      ),
      one.map(({ name }) =>
        onQuery("repeated parameter", "refused", [name], (query) => [...without(name)(query), `${name}=1`, `${name}=1`])
      ),
      one.map(({ name }) => {
        const disguised = `%${name.charCodeAt(0).toString(16)}${name.slice(1)}`
        return onQuery("repeated parameter", "refused", [name], (query) => [...query, `${name}=1`, `${disguised}=1`])
      })
    ])
  ]
}

const pathChanges = ({ parameters, path }: Operation): ReadonlyArray<fc.Arbitrary<Change>> => {
  const named = parameters.filter((parameter) => parameter.in === "path").map(({ name }) => name)
  const last = (replace: string) => (address: string) =>
    address.replace(/[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}/, () => replace)
  return [
    fc.constantFrom<Change>(
      onPath("odd path", "refused", [], (address) => `${address}/`),
      onPath("odd path", "refused", [], (address) => address.replace("/v1", "//v1")),
      onPath("odd path", "refused", [], (address) => address.toUpperCase()),
      onPath("odd path", "refused", [], (address) => address.replace("/v1", "/v1/.")),
      onPath("odd path", "refused", [], (address) => address.replace("/v1/", "/v1/x/../")),
      onPath("odd path", "refused", [], (address) => `${address};a=1`),
      onPath("odd path", "refused", [], (address) => `${address}%2f`),
      onPath("odd path", "refused", [], (address) => address.replace("/v1/", "/v1\\")),
      onPath("odd path", "either", [...named], (address) => address.replace("v1", "%761")),
      onPath("odd path", "refused", [...named], (address) => `${address}${"a".repeat(9000)}`)
    ),
    ...(named.length === 0 || path.split("{").length !== 2 ? [] : [
      fc.constantFrom(
        "0",
        "null",
        "-1",
        "00000000-0000-0000-0000-00000000000",
        "{}",
        "%00",
        "%20",
        "a%2fb",
        "..",
        "..%2f..",
        "%E2%82%AC",
        "%F0%9F%98%80"
      ).map(
        (bad) => onPath("no id", "refused", named, last(bad))
      ),
      badPercent.map((bad) => onPath("bad percent-encoding", "refused", named, last(bad))),
      fc.string({ minLength: 1, maxLength: 200 }).map((bad) =>
        onPath("no id", "either", named, last(encodeURIComponent(bad)))
      ),
      fc.constant(
        onPath(
          "upper-case id",
          "well-formed",
          named,
          (address) => address.replace(/[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}/, (id) => id.toUpperCase())
        )
      )
    ])
  ]
}

const targets = (operation: Operation, stage: Stage, changed: boolean): fc.Arbitrary<Target> => {
  const ids = idsOf(stage, operation.id)
  const drawn = operation.parameters.map(({ name, schema, ...parameter }) => {
    const value = valid(schema, name, ids).map((value) => ({ name, in: parameter.in, value }))
    return parameter.in === "path" || parameter.required === true
      ? value
      : fc.option(value, { nil: undefined, freq: 2 })
  })
  const base = fc.tuple(...drawn).map((all): Target => {
    const given = all.filter((member) => member !== undefined)
    const those = (where: Parameter["in"]) => given.filter((parameter) => parameter.in === where)
    return {
      path: those("path").reduce(
        (path, { name, value }) => path.replace(`{${name}}`, encodeURIComponent(textOf(value))),
        operation.path
      ),
      query: those("query").map(({ name, value }) => `${name}=${encodeURIComponent(textOf(value))}`),
      headers: those("header").map(({ name, value }) => [name, textOf(value)]),
      kinds: [],
      fate: "well-formed",
      blame: []
    }
  })
  if (!changed) return base
  const change = fc.oneof(...queryChanges(operation), ...pathChanges(operation))
  return fc.tuple(base, change).map(([target, change]) => change(target))
}

const address = ({ path, query }: Target): string => query.length === 0 ? path : `${path}?${query.join("&")}`

const credentials: fc.Arbitrary<Who> = fc.oneof(
  { weight: 14, arbitrary: fc.constant<Who>("owner") },
  { weight: 6, arbitrary: fc.constantFrom<Who>("superadmin", "admin", "billing", "archive", "reader", "foreign") },
  { weight: 1, arbitrary: fc.constantFrom<Who>("closed", "application", "assistant", "spent") }
)

/** `Authorization` headers that carry no working credential. */
const badAuthorization = (stage: Stage) =>
  fc.oneof(
    fc.constantFrom(
      undefined,
      "",
      "Bearer",
      "Bearer ",
      `Basic ${Buffer.from("a:b").toString("base64")}`,
      "Bearer \u00e9",
      `Bearer ${"x".repeat(4000)}`,
      `Bearer ${keyOf("owner")} extra`,
      `Bearer ${keyOf("owner")}x`,
      `Bearer ${keyOf("owner")}, Bearer ${keyOf("owner")}`,
      `Token ${keyOf("owner")}`,
      `Bearer osc_live_${"a".repeat(49)}`,
      "Bearer null",
      "Bearer ' or 1=1 --"
    ),
    fc.constantFrom(...stage.deadKeys).map((key) => `Bearer ${key}`),
    fc.string({ maxLength: 60, unit: "grapheme-ascii" }).map((word) => `Bearer ${word}`)
  )

const oddHeaders: fc.Arbitrary<ReadonlyArray<Header>> = fc.constantFrom<ReadonlyArray<Header>>(
  [["X-Forwarded-For", "1.2.3.4, , not an address, ::1, %00, 999.1.1.1"]],
  [["X-Forwarded-For", "\u00ff".repeat(200)]],
  [["Accept", "text/html"], ["Accept-Encoding", "gzip, br"], ["Accept-Language", "*"]],
  [["Range", "bytes=0-1"], ["If-None-Match", "*"], ["If-Modified-Since", "yesterday"]],
  [["Origin", "null"], ["Sec-Fetch-Site", "cross-site"], ["Cookie", "console=; console=x"]],
  [["X-HTTP-Method-Override", "DELETE"], ["X-Original-URL", "/v1/journal"], ["X-Rewrite-URL", "/healthz"]],
  [["Expect", "something"]],
  [["Upgrade", "h2c"], ["HTTP2-Settings", "AAMAAABkAARAAAAAAAIAAAAA"]],
  [["Traceparent", "00-ffffffffffffffffffffffffffffffff-0000000000000000-zz"], ["B3", "0"], ["Baggage", "\u00fe"]],
  [["Idempotency-Key", "\u00e9"], ["Request-Id", "chosen"], ["Forwarded", "for=\"_gazonk\""]],
  [["__proto__", "x"], ["constructor", "y"]],
  Array.from({ length: 90 }, (_, index): Header => [`X-Header-${index}`, "a"])
)

const wrongMethods = [
  "HEAD",
  "OPTIONS",
  "TRACE",
  "PROPFIND",
  "PATCH",
  "DELETE",
  "POST",
  "PUT",
  "GET",
  "M-SEARCH",
  "QUERY"
]

interface Parts {
  readonly operation: Operation
  readonly target: Target
  readonly draft: Members.Draft | undefined
  readonly whole?: Spoilt | undefined
  readonly who: Who
  readonly authorization?: string | undefined
  readonly headers?: ReadonlyArray<Header>
  readonly more?: { readonly kind: string; readonly fate: Case["fate"]; readonly blame: ReadonlyArray<string> }
  readonly method?: string
}

const assemble = ({ draft, headers = [], method, more, operation, target, whole, who, ...parts }: Parts): Case => {
  const authorization = "authorization" in parts ? parts.authorization : `Bearer ${keyOf(who)}`
  const body = whole?.body ?? (draft === undefined ? undefined : text(Members.write(draft)))
  const kinds = [
    ...target.kinds,
    ...(draft?.kinds ?? []),
    ...(whole === undefined ? [] : [whole.kind]),
    ...(more === undefined ? [] : [more.kind])
  ]
  const fate = [target.fate, draft?.fate, whole?.fate, more?.fate].reduce<Case["fate"]>(
    (sum, each) => each === undefined ? sum : Members.worse(sum, each),
    "well-formed"
  )
  const type = whole === undefined ? "application/json" : whole.type
  return {
    surface: "REST",
    kinds: kinds.length === 0 ? ["valid"] : kinds,
    fate,
    blame: [...target.blame, ...(draft?.blame ?? []), ...(whole?.blame ?? []), ...(more?.blame ?? [])],
    sent: {
      method: method ?? operation.method,
      target: address(target),
      headers: [
        ["Host", new URL(World.baseUrl).host],
        ...(authorization === undefined ? [] : [["Authorization", authorization] as const]),
        ...(body === undefined || type === undefined ? [] : [["Content-Type", type] as const]),
        ...(whole?.headers ?? []),
        ...target.headers,
        ...headers
      ],
      body
    }
  }
}

/** The cases of the interface. */
export const cases = (stage: Stage): fc.Arbitrary<Case> => {
  const valid = (operation: Operation) => ({
    operation: fc.constant(operation),
    target: targets(operation, stage, false),
    draft: operation.body === undefined
      ? fc.constant(undefined)
      : Members.validDraft(operation.body, idsOf(stage, operation.id)),
    who: credentials
  })
  const withBody = operations.filter(({ body }) => body !== undefined)
  const any = fc.constantFrom(...operations)
  const known = new Set(operations.map(({ method, path }) => `${method} ${path}`))
  return fc.oneof(
    { weight: 4, arbitrary: any.chain((operation) => fc.record(valid(operation))) },
    {
      weight: 6,
      arbitrary: any.chain((operation) => fc.record({ ...valid(operation), target: targets(operation, stage, true) }))
    },
    {
      weight: 10,
      arbitrary: fc.constantFrom(...withBody).chain((operation) =>
        fc.record({ ...valid(operation), draft: Members.drafts(operation.body ?? {}, idsOf(stage, operation.id)) })
      )
    },
    {
      weight: 4,
      arbitrary: fc.constantFrom(...withBody).chain((operation) =>
        Members.validDraft(operation.body ?? {}, idsOf(stage, operation.id)).chain((draft) =>
          fc.record({ ...valid(operation), whole: spoilt(Members.write(draft)) })
        )
      )
    },
    {
      weight: 1,
      arbitrary: fc.constantFrom(...operations.filter(({ body }) => body === undefined)).chain((operation) =>
        fc.record({
          ...valid(operation),
          draft: fc.constant<Members.Draft>({
            members: [["\"x\"", "1"]],
            kinds: ["unexpected body"],
            fate: "refused",
            blame: ["x", "body"],
            touched: ["x"]
          })
        })
      )
    },
    {
      weight: 2,
      arbitrary: any.chain((operation) =>
        fc.record({
          ...valid(operation),
          authorization: badAuthorization(stage),
          more: fc.constant({ kind: "no credential", fate: "refused" as const, blame: [] })
        })
      )
    },
    {
      weight: 1,
      arbitrary: any.chain((operation) =>
        fc.record({
          ...valid(operation),
          headers: oddHeaders,
          more: fc.constant({ kind: "odd headers", fate: "either" as const, blame: [] })
        })
      )
    },
    {
      weight: 1,
      arbitrary: fc.tuple(any, fc.constantFrom(...wrongMethods)).filter(([{ path }, method]) =>
        !known.has(`${method} ${path}`)
      )
        .chain(([operation, method]) =>
          fc.record({
            ...valid(operation),
            method: fc.constant(method),
            more: fc.constant({
              kind: "other method",
              fate: method === "HEAD" || method === "OPTIONS" ? "either" as const : "refused" as const,
              blame: []
            })
          })
        )
    }
  ).map(assemble)
}
