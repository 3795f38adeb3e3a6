/**
 * Bytes that no HTTP client would send: heads, framings and bodies that are cut, doubled, too large or contradictory.
 */
import * as fc from "fast-check"
import * as World from "../../test/support/world.ts"
import { type Case, keyOf } from "./case.ts"
import type { Stage } from "./stage.ts"

const host = `Host: ${new URL(World.baseUrl).host}`
const auth = `Authorization: Bearer ${keyOf("owner")}`
const close = "Connection: close"

/** Latin-1, so that a case may hold any byte. */
const latin1 = (bytes: string): Uint8Array => Uint8Array.from(bytes, (character) => character.charCodeAt(0))

/** A head, and what follows it. */
const raw = (line: string, headers: ReadonlyArray<string>, body = ""): string =>
  [line, ...headers, "", body].join("\r\n")

const at = (kind: string, bytes: string | Uint8Array, more: Partial<Case> = {}): Case => ({
  surface: "HTTP",
  kinds: [kind],
  fate: "either",
  sent: typeof bytes === "string" ? latin1(bytes) : bytes,
  ...more
})

/** The cases of the server below the service. */
export const cases = (stage: Stage): fc.Arbitrary<Case> => {
  const label = `/v1/accounts/${stage.accounts[0]}/role-label`
  const put = `PUT ${label} HTTP/1.1`
  const get = "GET /v1/organization HTTP/1.1"
  const body = "{\"role_label\":\"Smuggled\"}"
  const json = "Content-Type: application/json"
  const inner = raw(put, [host, auth, json, `Content-Length: ${body.length}`], body)
  const refused = (kind: string, bytes: string, more: Partial<Case> = {}) =>
    at(kind, bytes, { fate: "refused", ...more })
  const lines = fc.constantFrom(
    "GET /v1/organization",
    "GET  /v1/organization HTTP/1.1",
    "get /v1/organization HTTP/1.1",
    "G\u00e9T /v1/organization HTTP/1.1",
    `${"X".repeat(5000)} / HTTP/1.1`,
    "GET /v1/organization HTTP/1.0",
    "GET /v1/organization HTTP/0.9",
    "GET /v1/organization HTTP/2.0",
    "GET /v1/organization HTTP/1.1.1",
    "GET /v1/organization http/1.1",
    "GET http://localhost/v1/organization HTTP/1.1",
    "GET http://evil.example/v1/organization HTTP/1.1",
    "GET https://user@localhost/v1/organization HTTP/1.1",
    "GET * HTTP/1.1",
    "OPTIONS * HTTP/1.1",
    "GET v1/organization HTTP/1.1",
    "GET \\v1\\organization HTTP/1.1",
    "GET /v1/organization\u0000 HTTP/1.1",
    "GET /v1/organ\u00ffization HTTP/1.1",
    "GET /v1/organization#x HTTP/1.1",
    "GET /v1/organization?a=\u00ff HTTP/1.1",
    "GET ?x HTTP/1.1",
    "GET //localhost/v1/organization HTTP/1.1",
    "GET ///v1/organization HTTP/1.1",
    `GET /${"a".repeat(15_000)} HTTP/1.1`,
    `GET /v1/accounts?${"limit=1&".repeat(1500)} HTTP/1.1`,
    "SOURCE / HTTP/1.1"
  ).map((line) => at("request line", raw(line, [host, auth, close])))
  const heads = fc.constantFrom<ReadonlyArray<string>>(
    [close],
    ["Host:", close],
    [host, host, close],
    [host, "Host: evil.example", close],
    ["Host: evil.example", close],
    ["Host: localhost:80", close],
    ["Host: localhost:99999", close],
    ["Host: localhost/path", close],
    ["Host: user@localhost", close],
    ["Host: \u00ff", close],
    ["Host: CONSOLE.TEST", close],
    ["Host: localhost.", close],
    [host, auth, close],
    [host, "Authorization : Bearer x", close],
    [host, " Authorization: Bearer x", close],
    [host, "X: a\r\n folded", close],
    [host, "X: a\u0000b", close],
    [host, "X: a\rb", close],
    [host, "X: a\nb", close],
    [host, "No colon", close],
    [host, ": no name", close],
    [host, "X\u00e9: y", close],
    [host, `X: ${"a".repeat(20_000)}`, close],
    [host, ...Array.from({ length: 3000 }, (_, index) => `X-${index}: a`), close],
    [host, "Connection: upgrade", "Upgrade: websocket", "Sec-WebSocket-Key: x", "Sec-WebSocket-Version: 13"],
    [host, "Connection: close, close, x", "Keep-Alive: timeout=0"],
    [host, "Expect: 100-continue", close],
    [host, "Trailer: X", close]
  ).map((headers) => at("head", raw(get, headers.includes(auth) ? headers : [...headers, auth])))
  const framings = fc.oneof(
    fc.constantFrom(
      [`Content-Length: ${body.length}`, "Content-Length: 0"],
      [`Content-Length: ${body.length}, ${body.length}`],
      [`Content-Length: +${body.length}`],
      ["Content-Length: -1"],
      ["Content-Length: 0x1a"],
      ["Content-Length: 1e2"],
      ["Content-Length: "],
      ["Content-Length: 99999999999999999999"],
      ["Transfer-Encoding: chunked", `Content-Length: ${body.length}`],
      [`Content-Length: ${body.length}`, "Transfer-Encoding: chunked"],
      ["Transfer-Encoding: gzip, chunked"],
      ["Transfer-Encoding: chunked, identity"],
      ["Transfer-Encoding: xchunked"],
      ["Transfer-Encoding : chunked"],
      ["Transfer-Encoding:\u000bchunked"],
      ["Transfer-Encoding: chunked", "Transfer-Encoding: chunked"]
    ).map((headers) =>
      at("framing", raw(put, [host, auth, json, close, ...headers], body), { incomplete: true, leavesTraces: true })
    ),
    fc.constantFrom(
      "0\r\n\r\n",
      "zz\r\n",
      "-1\r\n",
      "fffffffffffffffff\r\n",
      "1\r\nab\r\n0\r\n\r\n",
      "1;x=y\r\n{\r\n0\r\n\r\n",
      "0\r\nHost: evil.example\r\n\r\n",
      "1\n{\n0\n\n",
      "00000000000000000001\r\n{\r\n0\r\n\r\n"
    ).map((chunks) =>
      at("chunks", raw(put, [host, auth, json, close, "Transfer-Encoding: chunked"], chunks), { incomplete: true })
    )
  )
  const smuggled = fc.constantFrom(
    raw(
      `GET /v1/organization HTTP/1.1`,
      [host, "Transfer-Encoding: chunked", "Content-Length: 5"],
      `0\r\n\r\n${inner}`
    ),
    raw(`POST /v1/accounts/${stage.accounts[0]}/nothing HTTP/1.1`, [
      host,
      "Content-Length: 4",
      "Transfer-Encoding: chunked"
    ], `5c\r\n${inner}`),
    raw(`GET /v1/organization HTTP/1.1`, [host, "Content-Length: 0", `Content-Length: ${inner.length}`], inner),
    raw(`GET /v1/organization HTTP/1.1`, [host, `Content-Length: ${inner.length}`], inner),
    raw(`GET /v1/organization HTTP/1.1`, [host, "Transfer-Encoding: xchunked"], inner),
    raw(`GET /v1/organization HTTP/1.1`, [host, "Transfer-Encoding: \u0000chunked"], inner)
  ).map((bytes) => refused("smuggling", bytes, { incomplete: true }))
  const cut = fc.nat(inner.length - 1).map((length) =>
    refused("truncated request", inner.slice(0, length), { incomplete: true })
  )
  const short = fc.constantFrom(1, 10, 100, 70_000).map((more) =>
    refused("truncated body", raw(put, [host, auth, json, `Content-Length: ${body.length + more}`], body), {
      incomplete: true
    })
  )
  const flood = fc.constantFrom(100_000, 400_000).map((size) =>
    refused("oversize body", raw(put, [host, auth, json, close, `Content-Length: ${size}`], " ".repeat(size)), {
      incomplete: true
    })
  )
  const several = fc.tuple(
    fc.integer({ min: 2, max: 6 }),
    fc.constantFrom(get, "GET /healthz HTTP/1.1", "GET /v1/nothing HTTP/1.1", "HEAD /healthz HTTP/1.1")
  ).map(
    ([count, line]) =>
      at("pipelined", `${raw(line, [host, auth]).repeat(count - 1)}${raw("GET /healthz HTTP/1.1", [host, close])}`)
  )
  const noise = fc.oneof(
    fc.uint8Array({ minLength: 1, maxLength: 300 }).map((bytes) => at("noise", bytes, { incomplete: true })),
    fc.constantFrom(
      "PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n",
      "CONNECT localhost:443 HTTP/1.1\r\nHost: localhost\r\n\r\n",
      "\u0016\u0003\u0001\u0002\u0000\u0001\u0000\u0001\u00fc\u0003\u0003",
      "\r\n\r\n\r\n",
      `\r\n${raw(get, [host, auth, close])}`,
      "SSH-2.0-x\r\n",
      "GET / HTTP/1.1\n\n"
    ).map((bytes) => at("noise", bytes, { incomplete: true })),
    fc.tuple(fc.nat(inner.length - 1), fc.nat(255)).map(([place, byte]) => {
      const bytes = latin1(inner)
      bytes[place] = byte
      return at("one wrong byte", bytes, { incomplete: true, leavesTraces: true })
    })
  )
  return fc.oneof(
    { weight: 4, arbitrary: lines },
    { weight: 4, arbitrary: heads },
    { weight: 3, arbitrary: framings },
    { weight: 2, arbitrary: smuggled },
    { weight: 2, arbitrary: cut },
    { weight: 1, arbitrary: short },
    { weight: 1, arbitrary: flood },
    { weight: 1, arbitrary: several },
    { weight: 3, arbitrary: noise }
  )
}
