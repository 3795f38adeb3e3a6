/** Requests to the authorization server and the console's pages, sound and damaged. */
import * as fc from "fast-check"
import * as OAuth from "../../test/oauth/support.ts"
import type { JsonSchema } from "../../test/support/http/documented.ts"
import { spoilt } from "./bodies.ts"
import { type Case } from "./case.ts"
import { assemble, cookies, damaged, encode, formType, type Pair, set } from "./forms.ts"
import * as Members from "./members.ts"
import { pages } from "./pages.ts"
import type { Stage } from "./stage.ts"
import { anyJson } from "./texts.ts"

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

/** The cases of the authorization server and the pages. */
export const cases = (stage: Stage): fc.Arbitrary<Case> =>
  fc.oneof(
    { weight: 4, arbitrary: registration() },
    { weight: 5, arbitrary: tokens(stage) },
    { weight: 5, arbitrary: authorize(stage) },
    { weight: 1, arbitrary: discovery },
    { weight: 4, arbitrary: pages(stage) }
  )
