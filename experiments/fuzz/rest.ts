/** Requests of every operation of the document, and what is done to their path, query, body and credential. */
import * as fc from "fast-check"
import type { Any as Declaration } from "../../src/kernel/Operation.ts"
import { operations as declarations } from "../../src/operations/index.ts"
import { document, type JsonSchema } from "../../test/support/http/documented.ts"
import * as Random from "../../test/support/random.ts"
import * as World from "../../test/support/world.ts"
import { type Spoilt, spoilt } from "./bodies.ts"
import { type Case, isRequest, keyOf, text, type Who } from "./case.ts"
import * as Members from "./members.ts"
import type { Stage } from "./stage.ts"
import { address, type Header, type Operation, type Parameter, type Target, targets } from "./targets.ts"

interface Declared {
  readonly operationId: string
  readonly parameters?: ReadonlyArray<Parameter>
  readonly requestBody?: { readonly content: { readonly "application/json": { readonly schema: JsonSchema } } }
}

const all: ReadonlyArray<Declaration> = declarations
const declared = new Map(all.map((operation) => [operation.id, operation]))

/** What a started service serves: the tests have an operation more. */
const operations: ReadonlyArray<Operation> = Object.entries(document.paths).flatMap(([path, methods]) =>
  Object.entries(methods as Readonly<Record<string, Declared>>).map(([method, entry]) => ({
    id: entry.operationId,
    method: method.toUpperCase(),
    path,
    parameters: entry.parameters ?? [],
    body: entry.requestBody?.content["application/json"].schema
  }))
).filter(({ id }) => declared.has(id))

/**
 * What an id of the name may be in a request of the operation, so that requests meet what there is, and what is
 * another's.
 */
export const idsOf = (stage: Stage, operation: string) => (name: string): ReadonlyArray<string> => {
  const of = declared.get(operation)
  const kind = of === undefined ? undefined : Random.idKindOf(of, name)
  return kind === undefined ? [] : stage.ids[kind]
}

const destructive = all.filter((operation) => operation.destructive).map(({ method, path }) => ({
  method,
  path: new RegExp(`^${path.replaceAll(/:\w+/g, "[^/]+")}$`)
}))

/** The path of a target, with nothing encoded that need not be. */
const pathOf = (target: string): string =>
  (target.split("?", 1)[0] ?? "").replaceAll(/%[2-7][0-9a-f]/gi, (encoded) => decodeURIComponent(encoded))

/** Whether the case asks for a destructive operation. */
export const isDestructive = ({ sent, surface }: Case): boolean =>
  surface === "REST" && isRequest(sent) &&
  destructive.some(({ method, path }) => method === sent.method && path.test(pathOf(sent.target)))

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
    target: targets(operation, idsOf(stage, operation.id), false),
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
      arbitrary: any.chain((operation) =>
        fc.record({ ...valid(operation), target: targets(operation, idsOf(stage, operation.id), true) })
      )
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
