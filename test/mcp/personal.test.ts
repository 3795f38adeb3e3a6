import { assert, describe, layer } from "@effect/vitest"
import { Effect, Redacted } from "effect"
import { pglite } from "../support/database.ts"
import { meet, staged } from "../support/logins.ts"
import * as World from "../support/world.ts"
import * as Mcp from "./support.ts"

const secret = "horse staple of its own"

const asking = { _meta: { "io.modelcontextprotocol/clientCapabilities": { elicitation: { form: {} } } } }

describe("what a person gives by themselves", () => {
  layer(World.world(pglite))((it) => {
    it.effect("is asked of them by a client that can, and stands in no argument and no answer", () =>
      Effect.gen(function*() {
        const { key, ...stage } = yield* staged()
        const person = yield* meet({ security: { two_fa_password: Redacted.make(secret) } })
        const { body: login } = yield* stage.connect(person.phone)
        const call = (name: string, more: object) =>
          Mcp.ask("tools/call", { name, arguments: { login_id: login.id }, ...asking, ...more }, { key })
        const entered = Effect.fnUntraced(function*(name: string, member: string, value: string) {
          const { body } = yield* call(name, {})
          assert.strictEqual(body.result.resultType, "input_required")
          const { params } = body.result.inputRequests[member]
          assert.deepStrictEqual(params.requestedSchema.required, [member])
          return yield* call(name, { inputResponses: { [member]: { action: "accept", content: { [member]: value } } } })
        })
        const next = yield* entered("submit_login_code", "code", yield* person.code)
        assert.strictEqual(next.body.result.structuredContent.state, "password_needed")
        const declined = yield* call("submit_login_password", { inputResponses: { password: { action: "decline" } } })
        assert.strictEqual(Mcp.told(declined).body.error.code, "console_page_required")
        const done = yield* entered("submit_login_password", "password", secret)
        assert.strictEqual(done.body.result.structuredContent.state, "completed")
        for (const { text } of [next, done, declined]) assert.notInclude(text, secret)
      }))

    it.effect("is refused as an argument, from clients of every revision, unless that is set; then it is one", () =>
      Effect.gen(function*() {
        const { key, ...stage } = yield* staged()
        const person = yield* meet()
        const { body: login } = yield* stage.connect(person.phone)
        const args = { login_id: login.id, code: yield* person.code }
        const asked = { name: "submit_login_code", arguments: args }
        const answers = [
          yield* Mcp.call("submit_login_code", args, { key }),
          yield* Mcp.call("submit_login_code", { login_id: login.id }, { key }),
          yield* Mcp.ask("tools/call", { ...asked, ...asking }, { key }),
          yield* Mcp.send({ key, body: Mcp.legacy("tools/call", asked) })
        ]
        for (const answer of answers) {
          assert.deepInclude(Mcp.told(answer).body.error, { code: "console_page_required", param: "code" })
        }
        assert.strictEqual((yield* stage.read(login.id)).body.attempts_left, 5)
        const unknown = yield* Mcp.ask("tools/call", { name: "submit_login_code", arguments: {}, ...asking }, {
          key: stage.admins.billing.key
        })
        assert.strictEqual(Mcp.told(unknown).body.error.code, "role_forbidden")
        const set = yield* Mcp.call("submit_login_code", args, { key, options: { personalArguments: true } })
        assert.strictEqual(Mcp.told(set).body.state, "completed")
      }))
  })
})
