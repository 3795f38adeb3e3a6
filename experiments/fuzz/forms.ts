/** Forms and queries of the authorization server and the console, and what is done to them. */
import * as fc from "fast-check"
import * as World from "../../test/support/world.ts"
import { type Case, text } from "./case.ts"
import type { Stage } from "./stage.ts"
import { badPercent, oddText, unknownName } from "./texts.ts"

export type Pair = readonly [name: string, value: string]

interface Parts {
  readonly surface?: "OAuth" | "pages"
  readonly kinds: ReadonlyArray<string>
  readonly fate?: Case["fate"]
  readonly method?: string
  readonly path: string
  readonly headers?: ReadonlyArray<Pair>
  readonly type?: string | undefined
  readonly body?: string | Uint8Array
  readonly leavesTraces?: boolean
}

export const assemble = (
  { body, fate = "either", headers = [], kinds, leavesTraces = false, method = "POST", path, surface = "OAuth", type }:
    Parts
): Case => ({
  surface,
  kinds,
  fate,
  leavesTraces,
  sent: {
    method,
    target: path,
    headers: [
      ["Host", new URL(World.baseUrl).host],
      ...(type === undefined ? [] : [["Content-Type", type] as const]),
      ...headers
    ],
    body: typeof body === "string" ? text(body) : body
  }
})

export const formType = "application/x-www-form-urlencoded"

export const encode = (pairs: ReadonlyArray<Pair>): string =>
  pairs.map((pair) => pair.map((part) => encodeURIComponent(part.toWellFormed())).join("=")).join("&")

export const set = (pairs: ReadonlyArray<Pair>, name: string, value: string): ReadonlyArray<Pair> => [
  ...pairs.filter(([known]) => known !== name),
  [name, value]
]

/** What a form or a query becomes when one thing is done to it. */
export const damaged = (pairs: ReadonlyArray<Pair>): fc.Arbitrary<{ readonly kind: string; readonly text: string }> => {
  const one = fc.constantFrom(...pairs)
  return fc.oneof(
    fc.tuple(one, oddText).map(([[name], value]) => ({ kind: "odd text", text: encode(set(pairs, name, value)) })),
    one.map(([name]) => ({ kind: "missing member", text: encode(pairs.filter(([known]) => known !== name)) })),
    fc.tuple(one, oddText).map(([[name], value]) => ({
      kind: "repeated parameter",
      text: encode([...pairs, [name, value]])
    })),
    one.map(([name, value]) => ({ kind: "repeated parameter", text: encode([...pairs, [name, value]]) })),
    fc.tuple(unknownName, oddText).map(([name, value]) => ({
      kind: "unknown parameter",
      text: encode([...pairs, [name, value]])
    })),
    fc.tuple(one, badPercent).map(([[name], bad]) => ({
      kind: "bad percent-encoding",
      text: `${encode(pairs.filter(([known]) => known !== name))}&${name}=${bad}`
    })),
    fc.constantFrom("&&&", "=", "a=b&", "?", "[]", "{}", "%00").map((odd) => ({ kind: "odd form", text: odd }))
  )
}

export const cookies = (stage: Stage): fc.Arbitrary<ReadonlyArray<Pair>> =>
  fc.oneof(
    {
      weight: 4,
      arbitrary: fc.constantFrom(...stage.cookies).map((cookie): ReadonlyArray<Pair> => [["Cookie", cookie]])
    },
    { weight: 1, arbitrary: fc.constant([]) },
    {
      weight: 1,
      arbitrary: fc.constantFrom(
        "console=",
        "console=x; console=y",
        "=",
        "\u00e9",
        ";;;",
        "__Host-console=x",
        "console=\"x\""
      ).map((cookie): ReadonlyArray<Pair> => [["Cookie", cookie]])
    }
  )
