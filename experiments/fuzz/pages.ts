/** Requests to the console's pages, sound and damaged. */
import * as fc from "fast-check"
import { type Case } from "./case.ts"
import { assemble, cookies, damaged, formType, type Pair } from "./forms.ts"
import type { Stage } from "./stage.ts"
import { oddText } from "./texts.ts"

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

/** The cases of the pages. */
export const pages = (stage: Stage): fc.Arbitrary<Case> => {
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
