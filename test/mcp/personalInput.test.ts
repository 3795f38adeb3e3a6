import { assert, describe, it, layer } from "@effect/vitest"
import { Effect, Redacted } from "effect"
import { pages } from "../../src/http/pages/index.ts"
import { SimulatedPlatform } from "../../src/layers/messenger/simulated/SimulatedPlatform.ts"
import * as Pages from "../support/http/pages.ts"
import { meet, staged } from "../support/logins/logins.ts"
import { postgres } from "../support/postgres/database.ts"
import * as World from "../support/world.ts"
import * as Mcp from "./support.ts"

const secret = "horse staple of its own"

describe("what a person gives by themselves", () => {
  it("has a page of the console where it is entered, for each operation that takes such", () => {
    const personal = Mcp.tools.all().map(([operation]) => operation).filter((operation) => operation.personal)
    assert.isAbove(personal.length, 5)
    const paths = new Set<string>(pages.map(({ path }) => path.replace(/:\w+/, ":id")))
    for (const { id, personalPage = "" } of personal) {
      assert.deepStrictEqual([id, paths.has(personalPage.replace(/:\w+/, ":id"))], [id, true])
    }
  })

  layer(World.world(postgres))((it) => {
    it.effect("is asked of them by a client that can, and is in no argument and no answer", () =>
      Effect.gen(function*() {
        const { key, ...stage } = yield* staged()
        const person = yield* meet({ security: { two_fa_password: Redacted.make(secret) } })
        const { body: login } = yield* stage.connect(person.phone)
        const call = (name: string, more: object) =>
          Mcp.ask("tools/call", { name, arguments: { login_id: login.id }, ...Mcp.eliciting, ...more }, { key })
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
        assert.strictEqual(Mcp.resultOf(declined).body.error.code, "console_page_required")
        const done = yield* entered("submit_login_password", "password", secret)
        assert.strictEqual(done.body.result.structuredContent.state, "completed")
        for (const { text } of [next, done, declined]) assert.notInclude(text, secret)
      }))

    it.effect("is asked of them once it is needed, where an operation may go without", () =>
      Effect.gen(function*() {
        const { admins, id } = yield* World.makeOrganization()
        const { id: account_id, userId } = yield* World.makeLiveAccount(id)
        const platform = yield* SimulatedPlatform
        yield* platform.changeSecurity(userId, { two_fa_password: Redacted.make(secret) })
        const { key } = admins.owner
        const call = (name: string, more: object = {}, said: object = {}, options = {}) =>
          Mcp.ask("tools/call", { name, arguments: { account_id, ...said }, ...Mcp.eliciting, ...more }, {
            key,
            ...options
          })
        const answers = (content: object | null) => ({
          inputResponses: { current_password: content === null ? { action: "decline" } : { action: "accept", content } }
        })
        const coded = (answer: Mcp.Answer) => Mcp.resultOf(answer).body.error?.code
        for (const name of ["create_paired_session", "set_two_fa_password"]) {
          const refused = [
            call(name, {}, { current_password: secret }),
            Mcp.call(name, { account_id, current_password: secret }, { key })
          ]
          for (const one of refused) assert.strictEqual(coded(yield* one), "console_page_required")
          const asked = yield* call(name, {}, { current_password: null })
          assert.strictEqual(asked.body.result.resultType, "input_required")
          const { requestedSchema } = asked.body.result.inputRequests.current_password.params
          assert.include(requestedSchema.properties.current_password.description, "holder's 2FA password")
          for (const one of [call(name, answers(null)), Mcp.call(name, { account_id }, { key })]) {
            assert.strictEqual(coded(yield* one), "two_fa_password_required")
          }
          assert.strictEqual(coded(yield* call(name, answers({ current_password: "wrong" }))), "password_invalid")
          const set = { options: Mcp.personal }
          const done = yield* call(name, answers({ current_password: secret }), {}, set)
          assert.strictEqual(Mcp.resultOf(done).body.object, "account_action")
          assert.notInclude(done.text, secret)
        }
        // The service holds the password by now, and needs nobody's.
        assert.strictEqual(Mcp.resultOf(yield* call("set_two_fa_password")).body.action, "two_fa_set")
        const owner = yield* call("transfer_ownership", {}, { account_id: undefined, admin_id: admins.superadmin.id })
        assert.property(owner.body.result.inputRequests, "current_password")
      }))

    it.effect("repeats a transfer of ownership that was answered, by its key and the password alone", () =>
      Effect.gen(function*() {
        const { admins, id } = yield* World.makeOrganization()
        for (const { id: admin } of [admins.owner, admins.superadmin]) yield* Pages.givePassword(id, admin)
        const transfer = (idempotency_key: string, current_password: string) =>
          Effect.map(
            Mcp.ask("tools/call", {
              name: "transfer_ownership",
              arguments: { admin_id: admins.superadmin.id, current_password },
              _meta: { idempotency_key }
            }, { key: admins.owner.key, options: Mcp.personal }),
            (answer) => Mcp.resultOf(answer).body
          )
        const done = yield* transfer("one", Pages.password)
        assert.strictEqual(done.object, "organization")
        assert.deepStrictEqual(yield* transfer("one", Pages.password), done)
        assert.strictEqual((yield* transfer("one", "guessed")).error.code, "password_incorrect")
        assert.strictEqual((yield* transfer("two", Pages.password)).error.code, "owner_required")
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
          yield* Mcp.ask("tools/call", { ...asked, ...Mcp.eliciting }, { key }),
          yield* Mcp.send({ key, body: Mcp.legacy("tools/call", asked) })
        ]
        for (const answer of answers) {
          const { error } = Mcp.resultOf(answer).body
          assert.deepInclude(error, { code: "console_page_required", param: "code" })
          assert.include(error.message, `ask the person to open ${World.baseUrl}/console/logins/${login.id}, and`)
        }
        const alone = yield* Mcp.call("submit_login_code", args, { key, options: { console: false } })
        assert.include(Mcp.resultOf(alone).body.error.message, `open /console/logins/${login.id} at its address, and`)
        const nowhere = yield* Mcp.call("submit_login_code", { login_id: "/../evil" }, { key })
        assert.notInclude(nowhere.text, "evil")
        assert.strictEqual((yield* stage.read(login.id)).body.attempts_left, 5)
        const unknown = yield* Mcp.ask("tools/call", { name: "submit_login_code", arguments: {}, ...Mcp.eliciting }, {
          key: stage.admins.billing.key
        })
        assert.strictEqual(Mcp.resultOf(unknown).body.error.code, "role_forbidden")
        const set = yield* Mcp.call("submit_login_code", args, { key, options: Mcp.personal })
        assert.strictEqual(Mcp.resultOf(set).body.state, "completed")
      }))
  })
})
