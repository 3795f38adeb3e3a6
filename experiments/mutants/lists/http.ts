import { change, type MutantsByFile } from "../mutant.ts"

export const http: MutantsByFile = {
  "src/http/Headers.ts": [
    change({ in: "complete", replace: "\"x-content-type-options\": \"nosniff\",", by: "" })
      .loses("browsers guess what an answer is")
      .seenBy("test/http/edge.test.ts")
  ],
  "src/http/Rest.ts": [
    change({ in: "headers", replace: "{ ...known.headers, \"cache-control\": \"no-store\" }", by: "known.headers" })
      .loses("caches keep answers")
      .seenBy("test/http/edge.test.ts")
  ],
  "src/http/App.ts": [
    change({ in: "maxBodySize", replace: "64", by: "65" })
      .loses("bodies are larger than what is accepted")
      .seenBy("test/http/body.test.ts")
  ],
  "src/http/Input.ts": [
    change({ in: "readQuery", replace: "if (members.has(name)) return invalid(name, \"is given twice\")", by: "" })
      .loses("of a duplicate parameter one is ignored")
      .seenBy("test/http/query.test.ts"),
    change({
      in: "readBody",
      replace: "if (unknown !== undefined) return yield* invalidMember(unknown, \"is not known here\")",
      by: ""
    })
      .loses("a body reaches into the path's members")
      .seenBy("test/http/body.test.ts")
  ],
  "src/http/OAuthEndpoints.ts": [
    change({ in: "response", replace: "error === \"invalid_client\" ? 401 : 400", by: "400" })
      .loses("an unknown application is not told so by its status")
      .seenBy("test/oauth/token.test.ts")
  ],
  "src/http/pages/oauth/Consent.ts": [
    change({ in: "post", replace: "form.text(\"csrf\"))", by: "form.text(\"csrf\")) && admin.organizationClosed" })
      .loses("another site grants access in an admin's name")
      .seenBy("test/http/pages/oauth/consentAnswers.test.ts")
  ],
  "src/http/pages/kit/Html.ts": [
    change({ in: "policy", replace: "\"frame-ancestors 'none'\"", by: "" })
      .loses("another site frames the consent page and has it clicked")
      .seenBy("test/http/pages/oauth/consent.test.ts", "test/http/pages/signin/signIn.test.ts"),
    change({ in: "headers", replace: "\"referrer-policy\": \"no-referrer\",", by: "" })
      .loses("the next page learns the query of the request for authorization")
      .seenBy("test/http/pages/signin/signIn.test.ts")
  ],
  "src/http/pages/signin/SignInSteps.ts": [
    change({ in: "returnPath", replace: " && isReturnPath(url.pathname)", by: "" })
      .loses("a sign-in leads to any page")
      .seenBy("test/http/pages/signin/signIn.test.ts")
  ],
  "src/http/pages/kit/SentForm.ts": [
    change({ in: "read", replace: "sameOrigin || !", by: "" })
      .loses("another site signs a visitor in")
      .seenBy("test/http/pages/signin/signIn.test.ts")
  ],
  "src/http/pages/kit/Forms.ts": [
    change({
      in: "submitted",
      replace: "valid ? yield* run(form.value, view) : yield* SentForm.foreign(visit)",
      by: "yield* run(form.value, view)"
    })
      .loses("a form that was shown to nobody signs sessions out")
      .seenBy("test/http/pages/accounts/accounts.test.ts", "test/http/pages/credentials/developer.test.ts")
  ],
  "src/http/pages/accounts/AccountList.ts": [
    change({
      in: "chart",
      replace: "canAccessEveryAccount(view.admin.role) ? yield* history(view) : undefined",
      by: "yield* history(view)"
    })
      .loses("an admin learns how many accounts there are that they do not reach")
      .seenBy("test/http/pages/accounts/accounts.test.ts")
  ],
  "src/http/Pipeline.ts": [
    change({ in: "#advance", replace: "maxOutstanding", by: "100 * maxOutstanding" })
      .loses("one connection has all its requests in memory, however many it sends")
      .seenBy("test/http/pipeline.test.ts"),
    change({ in: "pieceOf", replace: "end === -1 ? bytes : bytes.subarray(0, end + headEnd.length)", by: "bytes" })
      .loses("all requests that one packet holds begin at once")
      .seenBy("test/http/pipeline.test.ts"),
    change({ in: "before", replace: "1", by: "2" })
      .loses("two requests of a connection are served at once, and the second may come first")
      .seenBy("test/http/pipeline.test.ts"),
    change({ in: "whenDone", replace: "===", by: "!==" })
      .loses("the refusal of what is no request overtakes the answers before it")
      .seenBy("test/http/pipeline.test.ts"),
    change({ in: "constructor", replace: "socket.on(\"resume\", () => this.#advance())", by: "" })
      .loses("requests behind a pause are never read")
      .seenBy("test/http/pipeline.test.ts")
  ]
}
