import { change, type MutantsByFile } from "../mutant.ts"

export const mcp: MutantsByFile = {
  "src/mcp/Selection.ts": [
    change({ in: "refusal", replace: "!Tools.isReading(operation)", by: "operation.destructive" })
      .loses("an assistant that was to read only changes things")
      .seenBy("test/mcp/toolCalls.test.ts")
  ],
  "src/mcp/Handler.ts": [
    change({ in: "response", replace: "includes(origin)", by: "length > 0" })
      .loses("pages of other origins call tools")
      .seenBy("test/mcp/http.test.ts"),
    change({
      in: "isFinal",
      replace: "\"insufficient_scope\" || _tag === \"service_unavailable\"",
      by: "\"service_unavailable\""
    })
      .loses("a client is not asked to get the scope that it lacks")
      .seenBy("test/properties/order.test.ts"),
    change({ in: "direct", replace: " || Selection.refusal(selection, operation) !== undefined", by: "" })
      .loses("a call as most clients make it changes things over a connection that is for reading")
      .seenBy("test/mcp/direct.test.ts"),
    change({
      in: "direct",
      replace: "{ unasked } = Personal.given(operation, admitted?.input ?? input, undefined, personalArguments)",
      by: "unasked = undefined"
    })
      .loses("a call as most clients make it takes a person's password from a model")
      .seenBy("test/mcp/personal.test.ts")
  ],
  "src/mcp/Tools.ts": [
    change({ in: "isAllowed", replace: " && operation.roles.includes(caller.role)", by: "" })
      .loses("assistants are shown tools that they may not use")
      .seenBy("test/mcp/toolCalls.test.ts"),
    change({ in: "destructiveHint", replace: " || operation.confirm", by: "" })
      .loses("an assistant asks the person before the wrong tools")
      .seenBy("test/mcp/tools.test.ts")
  ],
  "src/mcp/Direct.ts": [
    change({ in: "read", replace: " !revisions.has(headers[\"mcp-protocol-version\"]) ||", by: "" })
      .loses("a call of a revision that nobody knows is answered")
      .seenBy("test/mcp/direct.test.ts"),
    change({ in: "read", replace: " && isPlainMeta(meta)", by: "" })
      .loses("what a call says beside its arguments is passed over")
      .seenBy("test/mcp/direct.test.ts")
  ],
  "src/mcp/Calls.ts": [
    change({
      in: "call",
      replace: "yield* admission === undefined ? operation.admit : Effect.fromResult(admission)",
      by: "if (admission === undefined) yield* operation.admit"
    })
      .loses("a tool runs that its caller's role or scopes forbid")
      .seenBy("test/mcp/toolCalls.test.ts")
  ]
}
