import type { Mutant } from "../list.ts"

export const mcp: ReadonlyArray<Mutant> = [
  {
    file: "src/mcp/Selection.ts",
    line: "if (readOnly && !Tools.isReading(operation)) {",
    becomes: "if (readOnly && operation.destructive) {",
    why: "an assistant that was to read only changes things",
    tests: ["test/mcp/toolCalls.test.ts"]
  },
  {
    file: "src/mcp/Handler.ts",
    line: "const response = origin === undefined || allowedOrigins === undefined || allowedOrigins.includes(origin)",
    becomes: "const response = origin === undefined || allowedOrigins === undefined || allowedOrigins.length > 0",
    why: "pages of other origins call tools",
    tests: ["test/mcp/http.test.ts"]
  },
  {
    file: "src/mcp/Handler.ts",
    line: "_tag === \"rate_limited\" || _tag === \"insufficient_scope\" || _tag === \"service_unavailable\"",
    becomes: "_tag === \"rate_limited\" || _tag === \"service_unavailable\"",
    why: "a client is not asked to get the scope that it lacks",
    tests: ["test/properties/order.test.ts"]
  },
  {
    file: "src/mcp/Tools.ts",
    line: "caller.scopes.includes(operation.scope) && operation.roles.includes(caller.role)",
    becomes: "caller.scopes.includes(operation.scope)",
    why: "assistants are shown tools that they may not use",
    tests: ["test/mcp/toolCalls.test.ts"]
  },
  {
    file: "src/mcp/Tools.ts",
    line: "destructiveHint: operation.destructive,",
    becomes: "destructiveHint: !operation.destructive,",
    why: "an assistant asks the person before the wrong tools",
    tests: ["test/mcp/tools.test.ts"]
  },
  {
    file: "src/mcp/Direct.ts",
    line: "!accept.includes(\"text/event-stream\") || !revisions.has(headers[\"mcp-protocol-version\"]) ||",
    becomes: "!accept.includes(\"text/event-stream\") ||",
    why: "a call of a revision that nobody knows is answered",
    tests: ["test/mcp/direct.test.ts"]
  },
  {
    file: "src/mcp/Direct.ts",
    line: "return typeof name === \"string\" && Predicate.isObject(input) && isPlainMeta(meta)",
    becomes: "return typeof name === \"string\" && Predicate.isObject(input)",
    why: "what a call says beside its arguments is passed over",
    tests: ["test/mcp/direct.test.ts"]
  },
  {
    file: "src/mcp/Handler.ts",
    line:
      "if (found === undefined || operation === undefined || Selection.refusal(selection, operation) !== undefined) {",
    becomes: "if (found === undefined || operation === undefined) {",
    why: "a call as most clients make it changes things over a connection that is for reading",
    tests: ["test/mcp/direct.test.ts"]
  },
  {
    file: "src/mcp/Handler.ts",
    line: "const { unasked } = Personal.given(operation, admitted?.input ?? input, undefined, personalArguments)",
    becomes: "const unasked = undefined",
    why: "a call as most clients make it takes a person's password from a model",
    tests: ["test/mcp/personal.test.ts"]
  },
  {
    file: "src/mcp/Calls.ts",
    line: "yield* admission === undefined ? operation.admit : Effect.fromResult(admission)",
    becomes: "if (admission === undefined) yield* operation.admit",
    why: "a tool runs that its caller's role or scopes forbid",
    tests: ["test/mcp/toolCalls.test.ts"]
  }
]
