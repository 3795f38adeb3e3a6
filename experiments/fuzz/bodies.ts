/** What is done to a body as a whole, its type and its encoding, whichever object it holds. */
import * as fc from "fast-check"
import * as zlib from "node:zlib"
import { type Case, text } from "./case.ts"
import { badUtf8, deep } from "./texts.ts"

export interface Spoilt {
  readonly kind: string
  readonly fate: Case["fate"]
  readonly blame: ReadonlyArray<string>
  readonly body: Uint8Array
  readonly type: string | undefined
  readonly headers?: ReadonlyArray<readonly [string, string]>
}

/** The largest body that is read. */
const most = 64 * 1024

const json = "application/json"

/** Bodies that are no object, no JSON, too large, or of another type than what they hold. */
export const spoilt = (content: string): fc.Arbitrary<Spoilt> => {
  const refused = (
    kind: string,
    body: Uint8Array | string,
    blame: string,
    type = json
  ): Spoilt => ({
    kind,
    fate: "refused",
    blame: [blame],
    body: typeof body === "string" ? text(body) : body,
    type
  })
  const bytes = text(content)
  return fc.oneof(
    fc.constantFrom("[]", "null", "true", "1", "\"text\"", `[${content}]`, JSON.stringify(content)).map((body) =>
      refused("no object", body, "body")
    ),
    fc.nat(Math.max(0, content.length - 2)).map((length) =>
      refused("truncated JSON", content.slice(0, length + 1), "body")
    ),
    fc.constantFrom(
      " ",
      "{",
      "}",
      ",",
      "\ufeff",
      "{}{}",
      `${content}x`,
      `${content},`,
      `/**/${content}`
    )
      .map((body) => refused("no JSON", body, "body")),
    fc.constantFrom("{'a':1}", "{a:1}", "{\"a\":1,}", "{\"a\" 1}", "{\"a\":\"\u0001\"}", "{\"a\":\"\\x41\"}").map((
      body
    ) => refused("no JSON", body, "body")),
    deep.map((body) => ({ ...refused("deep nesting", body, "body"), blame: ["a", "body"] })),
    badUtf8.map((bad) => refused("no UTF-8", Buffer.concat([text("{\"a\":\""), bad, text("\"}")]), "body")),
    fc.constantFrom(most + 1, most * 2, 1_000_000).map((size) =>
      refused("oversize body", Buffer.concat([text(content), Buffer.alloc(size - bytes.length, " ")]), "body")
    ),
    fc.constant<Spoilt>({
      kind: "largest body",
      fate: "either",
      blame: [],
      body: Buffer.concat([bytes, Buffer.alloc(Math.max(0, most - bytes.length), " ")]),
      type: json
    }),
    fc.constantFrom(
      "text/plain",
      "application/x-www-form-urlencoded",
      "multipart/form-data; boundary=x",
      "application/json; charset=utf-16",
      "application/json; charset=\"latin1\"",
      "application/jsonx",
      "application/problem+json",
      "",
      "*/*",
      "application/json, text/plain",
      "\u00e9"
    ).map((type) => refused("content type", bytes, "Content-Type", type)),
    fc.constant<Spoilt>({
      ...refused("content type", bytes, "Content-Type"),
      type: undefined
    }),
    fc.constantFrom("gzip", "br", "deflate", "zstd", "identity, gzip", "x").map((encoding) => ({
      ...refused("content encoding", encoding === "gzip" ? zlib.gzipSync(bytes) : bytes, "Content-Encoding"),
      headers: [["Content-Encoding", encoding]] as const
    })),
    fc.constantFrom("application/json;charset=utf-8", "APPLICATION/JSON", "application/json; charset=\"UTF-8\"").map(
      (type): Spoilt => ({ kind: "content type", fate: "either", blame: [], body: bytes, type })
    )
  )
}
