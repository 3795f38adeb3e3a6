/** The paths and queries of requests of the interface, and what is done to them. */
import * as fc from "fast-check"
import { type JsonSchema } from "../../test/support/http/documented.ts"
import { type Case } from "./case.ts"
import * as Members from "./members.ts"
import { boundary, judge, valid } from "./schema.ts"
import { badPercent, oddNumber, oddText, unknownName } from "./texts.ts"

export interface Parameter {
  readonly name: string
  readonly in: "path" | "query" | "header"
  readonly required?: boolean
  readonly schema: JsonSchema
}

/** An operation as the document describes it. */
export interface Operation {
  readonly id: string
  readonly method: string
  readonly path: string
  readonly parameters: ReadonlyArray<Parameter>
  readonly body: JsonSchema | undefined
}

/** The text of a value that is written as JSON. */
const textOf = (value: string): string => String(JSON.parse(`[${value}]`)[0])

export interface Target {
  readonly path: string
  readonly query: ReadonlyArray<string>
  readonly headers: ReadonlyArray<Header>
  readonly kinds: ReadonlyArray<string>
  readonly fate: Case["fate"]
  readonly blame: ReadonlyArray<string>
}

export type Header = readonly [string, string]

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

/** The paths and queries that ask for the operation, with one thing wrong where they are `changed`. */
export const targets = (
  operation: Operation,
  ids: (name: string) => ReadonlyArray<string>,
  changed: boolean
): fc.Arbitrary<Target> => {
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

export const address = ({ path, query }: Target): string => query.length === 0 ? path : `${path}?${query.join("&")}`
