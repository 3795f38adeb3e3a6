/** Requests to the authorization server and the console's pages, sound and damaged. */
import * as fc from "fast-check"
import * as OAuth from "../../test/oauth/support.ts"
import type { JsonSchema } from "../../test/support/documented.ts"
import * as World from "../../test/support/world.ts"
import { spoilt } from "./bodies.ts"
import { type Case, text } from "./case.ts"
import * as Members from "./members.ts"
import type { Stage } from "./stage.ts"
import { anyJson, badPercent, oddText, unknownName } from "./texts.ts"

type Pair = readonly [name: string, value: string]

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

const assemble = (
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

const formType = "application/x-www-form-urlencoded"

const encode = (pairs: ReadonlyArray<Pair>): string =>
  pairs.map((pair) => pair.map((part) => encodeURIComponent(part.toWellFormed())).join("=")).join("&")

const set = (pairs: ReadonlyArray<Pair>, name: string, value: string): ReadonlyArray<Pair> => [
  ...pairs.filter(([known]) => known !== name),
  [name, value]
]

/** What a form or a query becomes when one thing is done to it. */
const damaged = (pairs: ReadonlyArray<Pair>): fc.Arbitrary<{ readonly kind: string; readonly text: string }> => {
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

const metadataSchema: JsonSchema = {
  type: "object",
  properties: {
    client_name: { type: "string", maxLength: 100 } as JsonSchema,
    redirect_uris: { type: "array", items: { enum: [OAuth.callback] } },
    token_endpoint_auth_method: { enum: ["none", "client_secret_basic", "client_secret_post"] },
    grant_types: { type: "array", items: { enum: ["authorization_code"] } },
    response_types: { type: "array", items: { enum: ["code"] } }
  },
  required: ["redirect_uris"]
}

const badRedirects = [
  "https://app.example/callback#fragment",
  "http://evil.example/callback",
  "https://app.example@evil.example/",
  "javascript:alert(1)",
  "https://app.example\\@evil.example/",
  "//evil.example",
  "https://app.example/callback/../..//evil.example",
  "https://APP.example/callback",
  "https://evil.example/?https://app.example/callback",
  "https://app.example:443/callback",
  "https://app.example/callback?x=1",
  "http://127.0.0.1.evil.example/",
  " https://app.example/callback",
  "data:text/html,x",
  "https://app.example/callback\u0000"
]

const registration = (): fc.Arbitrary<Case> => {
  const path = "/oauth/register"
  const type = "application/json"
  const bad = (uris: string) => `{"redirect_uris":${uris}}`
  return fc.oneof(
    {
      weight: 1,
      arbitrary: Members.validDraft(metadataSchema, () => []).map((draft) =>
        assemble({ kinds: ["valid"], path, type, body: Members.write(draft) })
      )
    },
    {
      weight: 10,
      arbitrary: fc.tuple(
        Members.validDraft(metadataSchema, () => []),
        fc.constantFrom(...Object.keys(metadataSchema.properties ?? {})),
        anyJson
      ).map(
        ([draft, name, value]) =>
          assemble({
            kinds: ["wrong type"],
            path,
            type,
            body: Members.write({
              ...draft,
              members: [...draft.members.filter(([each]) => each !== JSON.stringify(name)), [
                JSON.stringify(name),
                value
              ]]
            })
          })
      )
    },
    {
      weight: 6,
      arbitrary: fc.oneof(
        fc.constantFrom(...badRedirects.filter((uri) => !/\?x|:443|APP|\.\.|\?https/.test(uri))).map((uri) =>
          JSON.stringify([uri])
        ),
        anyJson
      ).map((uris) => assemble({ kinds: ["redirect address"], path, type, body: bad(uris) }))
    },
    {
      weight: 3,
      arbitrary: spoilt("{\"client_name\":\"x\"}").map(({ body, headers, kind, type }) =>
        assemble({ kinds: [kind], fate: "refused", path, type, body, ...(headers === undefined ? {} : { headers }) })
      )
    }
  )
}

const tokenForms = (stage: Stage): fc.Arbitrary<ReadonlyArray<Pair>> =>
  fc.oneof(
    fc.constantFrom(...stage.connections).map(({ refreshToken }): ReadonlyArray<Pair> => [
      ["grant_type", "refresh_token"],
      ["client_id", stage.publicClient],
      ["refresh_token", refreshToken],
      ["scope", "org:read"],
      ["resource", OAuth.v1]
    ]),
    fc.constant<ReadonlyArray<Pair>>([
      ["grant_type", "authorization_code"],
      ["client_id", stage.publicClient],
      ["code", `osc_oac_${"a".repeat(49)}`],
      ["code_verifier", "v".repeat(43)],
      ["redirect_uri", OAuth.callback]
    ]),
    fc.constant<ReadonlyArray<Pair>>([
      ["grant_type", "authorization_code"],
      ["client_id", stage.confidentialClient.id],
      ["client_secret", stage.confidentialClient.secret],
      ["code", "x"]
    ])
  )

const basics = (stage: Stage): fc.Arbitrary<ReadonlyArray<Pair>> =>
  fc.oneof(
    { weight: 6, arbitrary: fc.constant([]) },
    {
      weight: 1,
      arbitrary: fc.constantFrom(
        Buffer.from(`${stage.confidentialClient.id}:${stage.confidentialClient.secret}`).toString("base64"),
        Buffer.from("%zz:%zz").toString("base64"),
        Buffer.from("\u0000:\u0000").toString("base64"),
        "no base64",
        Buffer.from([0xff, 0x3a, 0xff]).toString("base64"),
        "===",
        ""
      ).map((credentials): ReadonlyArray<Pair> => [["Authorization", `Basic ${credentials}`]])
    }
  )

const tokens = (stage: Stage): fc.Arbitrary<Case> =>
  fc.tuple(fc.constantFrom("/oauth/token", "/oauth/revoke"), tokenForms(stage), basics(stage)).chain(
    ([path, pairs, headers]) => {
      const form = path === "/oauth/revoke"
        ? [["client_id", stage.publicClient], ["token", pairs[2]?.[1] ?? ""], [
          "token_type_hint",
          "refresh_token"
        ]] as const
        : pairs
      const common = { path, headers, leavesTraces: true }
      return fc.oneof(
        {
          weight: 1,
          arbitrary: fc.constant(assemble({ ...common, kinds: ["valid"], type: formType, body: encode(form) }))
        },
        {
          weight: 10,
          arbitrary: damaged(form).map(({ kind, text }) =>
            assemble({ ...common, kinds: [kind], type: formType, body: text })
          )
        },
        {
          weight: 2,
          arbitrary: spoilt(encode(form)).map(({ body, headers: more = [], kind, type }) =>
            assemble({
              ...common,
              kinds: [kind],
              type: type === "application/json" ? formType : type,
              body,
              headers: [...headers, ...more]
            })
          )
        }
      )
    }
  )

const cookies = (stage: Stage): fc.Arbitrary<ReadonlyArray<Pair>> =>
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

const authorize = (stage: Stage): fc.Arbitrary<Case> => {
  const query: ReadonlyArray<Pair> = [
    ["response_type", "code"],
    ["client_id", stage.publicClient],
    ["redirect_uri", OAuth.callback],
    ["code_challenge", "c".repeat(43)],
    ["code_challenge_method", "S256"],
    ["resource", OAuth.v1],
    ["scope", "org:read"],
    ["state", "a state"],
    ["prompt", "consent"]
  ]
  const asked = fc.oneof(
    { weight: 1, arbitrary: fc.constant({ kind: "valid", text: encode(query) }) },
    { weight: 6, arbitrary: damaged(query) },
    {
      weight: 3,
      arbitrary: fc.constantFrom(...badRedirects).map((uri) => ({
        kind: "redirect address",
        text: encode(set(query, "redirect_uri", uri))
      }))
    }
  )
  return fc.tuple(asked, cookies(stage), fc.constantFrom("GET", "GET", "POST")).chain((
    [{ kind, text }, headers, method]
  ) =>
    (method === "GET"
      ? fc.constant(undefined)
      : damaged([["csrf", "x"], ["decision", "allow"], ["scope", "org:read"], ["scope_type", "accounts"], [
        "account",
        stage.accounts[0] ?? ""
      ]])).map(
        (form) =>
          assemble({
            kinds: [kind],
            method,
            path: `/oauth/authorize?${text}`,
            headers,
            ...(form === undefined ? {} : { type: formType, body: form.text })
          })
      )
  )
}

const discovery: fc.Arbitrary<Case> = fc.tuple(
  fc.constantFrom("/.well-known/oauth-authorization-server", "/.well-known/oauth-protected-resource"),
  fc.constantFrom("", "/mcp", "/v1", "/", "//mcp", "/mcp/", "/%6dcp", "/..", "?x=1", "/%zz", "/nothing"),
  fc.constantFrom("GET", "GET", "HEAD", "POST", "OPTIONS")
).map(([known, suffix, method]) =>
  assemble({ kinds: [method === "GET" ? "odd path" : "other method"], method, path: `${known}${suffix}` })
)

const signIns = (stage: Stage): fc.Arbitrary<Case> => {
  const form: ReadonlyArray<Pair> = [
    ["organization", stage.organizationId],
    ["email", stage.ownerEmail],
    ["password", "wrong"],
    ["return_to", "/console/developer"]
  ]
  return fc.tuple(damaged(form), cookies(stage)).map(([{ kind, text }, headers]) =>
    assemble({
      surface: "pages",
      kinds: [kind],
      path: "/console/sign-in",
      type: formType,
      body: text,
      headers,
      leavesTraces: true
    })
  )
}

const pages = (stage: Stage): fc.Arbitrary<Case> => {
  const forms = fc.tuple(
    fc.constantFrom(
      "/console/developer/api-keys",
      "/console/developer/api-keys/revoke",
      "/console/developer/connections/disconnect",
      "/console/sign-out",
      "/oauth/authorize"
    ),
    damaged([
      ["csrf", "x"],
      ["label", "A key"],
      ["scope", "org:read"],
      ["expiry", "7"],
      ["id", stage.accounts[0] ?? ""],
      ["after", "first"],
      ["decision", "search"],
      ["scope_type", "accounts"],
      ["account", stage.accounts[0] ?? ""],
      ["find_account", "Name"],
      ["password", ""],
      ["return_to", "/console/developer"]
    ]),
    cookies(stage),
    fc.constantFrom<ReadonlyArray<Pair>>([], [["Sec-Fetch-Mode", "navigate"]], [["Origin", "https://evil.example"]], [[
      "Sec-Fetch-Site",
      "cross-site"
    ]], [
      ["Origin", "null"]
    ])
  ).map(([path, { kind, text }, headers, more]) =>
    assemble({ surface: "pages", kinds: [kind], path, type: formType, body: text, headers: [...headers, ...more] })
  )
  const reads = fc.tuple(
    fc.constantFrom(
      "/console",
      "/console/developer",
      "/console/developer/api-keys/new",
      "/console/sign-in",
      "/console/style.css",
      "/console/nothing",
      "/docs",
      "/openapi.json",
      "/healthz",
      "/readyz",
      "/"
    ),
    fc.oneof(
      oddText.map((value) => `?return_to=${encodeURIComponent(value.toWellFormed())}`),
      fc.constantFrom(
        "",
        "?return_to=//evil.example",
        "?return_to=/console/developer%0d%0aX:1",
        "?done=__proto__",
        "?%zz",
        "/",
        "/.."
      )
    ),
    cookies(stage),
    fc.constantFrom("GET", "GET", "GET", "HEAD", "PUT", "OPTIONS", "DELETE")
  ).filter(([path, , , method]) => path !== "/docs" || method !== "GET")
    .map(([path, query, headers, method]) =>
      assemble({
        surface: "pages",
        kinds: [method === "GET" ? "odd query" : "other method"],
        method,
        path: `${path}${query}`,
        headers
      })
    )
  return fc.oneof({ weight: 3, arbitrary: forms }, { weight: 3, arbitrary: reads }, {
    weight: 1,
    arbitrary: signIns(stage)
  })
}

/** The cases of the authorization server and the pages. */
export const cases = (stage: Stage): fc.Arbitrary<Case> =>
  fc.oneof(
    { weight: 4, arbitrary: registration() },
    { weight: 5, arbitrary: tokens(stage) },
    { weight: 5, arbitrary: authorize(stage) },
    { weight: 1, arbitrary: discovery },
    { weight: 4, arbitrary: pages(stage) }
  )
