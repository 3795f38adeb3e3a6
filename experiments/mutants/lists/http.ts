import type { Mutant } from "../list.ts"

export const http: ReadonlyArray<Mutant> = [
  {
    file: "src/http/Headers.ts",
    line: "\"x-content-type-options\": \"nosniff\",",
    becomes: "",
    why: "browsers guess what an answer is",
    tests: ["test/http/edge.test.ts"]
  },
  {
    file: "src/http/Rest.ts",
    line: "headers: { ...known.headers, \"cache-control\": \"no-store\" }",
    becomes: "headers: known.headers",
    why: "caches keep answers",
    tests: ["test/http/edge.test.ts"]
  },
  {
    file: "src/http/App.ts",
    line: "const maxBodySize = ByteSize.kibibytes(64)",
    becomes: "const maxBodySize = ByteSize.kibibytes(65)",
    why: "bodies are larger than what is accepted",
    tests: ["test/http/body.test.ts"]
  },
  {
    file: "src/http/Input.ts",
    line: "if (members.has(name)) return invalid(name, \"is given twice\")",
    becomes: "",
    why: "of a parameter that stands twice one is passed over",
    tests: ["test/http/query.test.ts"]
  },
  {
    file: "src/http/Input.ts",
    line: "if (unknown !== undefined) return yield* invalidMember(unknown, \"is not known here\")",
    becomes: "",
    why: "a body reaches into the path's members",
    tests: ["test/http/body.test.ts"]
  },
  {
    file: "src/http/OAuth.ts",
    line: "const response = json({ error, error_description: description }, error === \"invalid_client\" ? 401 : 400)",
    becomes: "const response = json({ error, error_description: description }, 400)",
    why: "an unknown application is not told so by its status",
    tests: ["test/oauth/token.test.ts"]
  },
  {
    file: "src/http/pages/Consent.ts",
    line: "if (!sessions.verifyCsrf(admin.sessionId, consentForm(visit.query, request), form.text(\"csrf\"))) {",
    becomes:
      "if (!sessions.verifyCsrf(admin.sessionId, consentForm(visit.query, request), form.text(\"csrf\")) && admin.organizationClosed) {",
    why: "another site grants access in an admin's name",
    tests: ["test/pages/consentAnswers.test.ts"]
  },
  {
    file: "src/http/pages/Html.ts",
    line: "\"frame-ancestors 'none'\"",
    becomes: "",
    why: "another site frames the consent page and has it clicked",
    tests: ["test/pages/consent.test.ts", "test/pages/signIn.test.ts"]
  },
  {
    file: "src/http/pages/Html.ts",
    line: "\"referrer-policy\": \"no-referrer\",",
    becomes: "",
    why: "the next page learns the query of the request for authorization",
    tests: ["test/pages/signIn.test.ts"]
  },
  {
    file: "src/http/pages/Visit.ts",
    line: "return url !== undefined && url.origin === \"http://site.invalid\" && isReturnPath(url.pathname)",
    becomes: "return url !== undefined && url.origin === \"http://site.invalid\"",
    why: "a sign-in leads to any page",
    tests: ["test/pages/signIn.test.ts"]
  },
  {
    file: "src/http/pages/Forms.ts",
    line: "return valid ? yield* run(form.value, view) : yield* Visit.foreignForm(visit)",
    becomes: "return yield* run(form.value, view)",
    why: "a form that was shown to nobody signs sessions out",
    tests: ["test/pages/accounts.test.ts", "test/pages/developer.test.ts"]
  },
  {
    file: "src/http/pages/Accounts.ts",
    line: "const chart = canAccessEveryAccount(view.admin.role) ? yield* history(view) : undefined",
    becomes: "const chart = yield* history(view)",
    why: "an admin learns how many accounts there are that they do not reach",
    tests: ["test/pages/accounts.test.ts"]
  },
  {
    file: "src/http/pages/Visit.ts",
    line: "if (!sameOrigin || !typed) return Option.none<Form>()",
    becomes: "if (!typed) return Option.none<Form>()",
    why: "another site signs a visitor in",
    tests: ["test/pages/signIn.test.ts"]
  },
  {
    file: "src/http/Pipeline.ts",
    line: "if (this.#owed.length >= maxOutstanding) {",
    becomes: "if (this.#owed.length >= 100 * maxOutstanding) {",
    why: "one connection has all its requests in memory, however many it sends",
    tests: ["test/http/pipeline.test.ts"]
  },
  {
    file: "src/http/Pipeline.ts",
    line: "return end === -1 ? bytes : bytes.subarray(0, end + headEnd.length)",
    becomes: "return bytes",
    why: "all requests that one packet holds begin at once",
    tests: ["test/http/pipeline.test.ts"]
  },
  {
    file: "src/http/Pipeline.ts",
    line: "return this.#owed[this.#indexOf(response) - 1]?.response",
    becomes: "return this.#owed[this.#indexOf(response) - 2]?.response",
    why: "two requests of a connection are served at once, and the second may come first",
    tests: ["test/http/pipeline.test.ts"]
  },
  {
    file: "src/http/Pipeline.ts",
    line: "if (owed === undefined) return Effect.void",
    becomes: "if (owed !== undefined) return Effect.void",
    why: "the refusal of what is no request overtakes the answers before it",
    tests: ["test/http/pipeline.test.ts"]
  },
  {
    file: "src/http/Pipeline.ts",
    line: "socket.on(\"resume\", () => this.#advance())",
    becomes: "",
    why: "requests behind a pause are never read",
    tests: ["test/http/pipeline.test.ts"]
  }
]
