import { assert, describe, layer } from "@effect/vitest"
import { Client } from "@modelcontextprotocol/sdk/client/index.js"
import { StreamableHTTPClientTransport } from "@modelcontextprotocol/sdk/client/streamableHttp.js"
import { ElicitRequestSchema } from "@modelcontextprotocol/sdk/types.js"
import { Effect, Fiber, Redacted } from "effect"
import { TestClock } from "effect/testing"
import { SimulatedPlatform } from "../../src/layers/messenger/simulated/SimulatedPlatform.ts"
import { meet, staged } from "../support/logins/logins.ts"
import { postgres } from "../support/postgres/database.ts"
import * as World from "../support/world.ts"
import * as Mcp from "./support.ts"

const secret = "horse staple of its own"

/** What the person answers a form. */
type Person = (form: any) => Promise<object>

/** The official client of the earlier revisions, whose person is asked if there is one; `hearing` gets the answers. */
const connect = Effect.fnUntraced(function*(
  key: Redacted.Redacted,
  person: Person | undefined,
  hearing?: (request: Request) => Promise<Response>
) {
  const web = yield* Mcp.webHandler()
  const client = new Client({ name: "test", version: "1" }, {
    capabilities: person === undefined ? {} : { elicitation: {} }
  })
  const forms: Array<any> = []
  if (person !== undefined) {
    client.setRequestHandler(ElicitRequestSchema, ({ params }) => {
      forms.push(params)
      return person(params)
    })
  }
  const answers: Array<Response> = []
  const transport = new StreamableHTTPClientTransport(new URL(`${World.baseUrl}/mcp`), {
    requestInit: { headers: { authorization: `Bearer ${Redacted.value(key)}` } },
    fetch: async (url, init) => {
      const request = new Request(url, init)
      request.headers.set("host", new URL(World.baseUrl).host)
      const isAnswer = hearing !== undefined && typeof init?.body === "string" && "result" in JSON.parse(init.body)
      const answer = await (isAnswer ? hearing : web)(request)
      answers.push(answer)
      return answer
    }
  })
  yield* Effect.acquireRelease(
    Effect.promise(() => client.connect(transport as Parameters<typeof client.connect>[0])),
    () => Effect.promise(() => client.close())
  )
  const call = (name: string, args: Record<string, unknown>) =>
    Effect.map(
      Effect.promise((): Promise<any> => client.callTool({ name, arguments: args })),
      (result) => result.structuredContent ?? JSON.parse(result.content[0].text)
    )
  return { call, forms, answers }
})

const accept = (content: Record<string, string>): Person => () => Promise.resolve({ action: "accept", content })
const decline: Person = () => Promise.resolve({ action: "decline" })

describe("a client of an earlier revision", () => {
  layer(World.world(postgres))((it) => {
    it.effect("that declares elicitation asks the person for the code and the password, and no argument holds them", () =>
      Effect.gen(function*() {
        const { key, ...stage } = yield* staged()
        const person = yield* meet({ security: { two_fa_password: Redacted.make(secret) } })
        const { body: login } = yield* stage.connect(person.phone)
        const code = yield* person.code
        const asked = yield* connect(
          key,
          ({ requestedSchema }) =>
            accept("code" in requestedSchema.properties ? { code } : { password: secret })(undefined)
        )
        const next = yield* asked.call("submit_login_code", { login_id: login.id })
        assert.strictEqual(next.state, "password_needed")
        const done = yield* asked.call("submit_login_password", { login_id: login.id })
        assert.strictEqual(done.state, "completed")
        assert.deepStrictEqual(asked.forms.map(({ requestedSchema }) => requestedSchema.required), [["code"], [
          "password"
        ]])
      }))

    it.effect("is asked for an optional password only once it is needed, and a person who declines is believed", () =>
      Effect.gen(function*() {
        const { admins, id } = yield* World.makeOrganization()
        const { id: account_id, userId } = yield* World.makeLiveAccount(id)
        const platform = yield* SimulatedPlatform
        yield* platform.changeSecurity(userId, { two_fa_password: Redacted.make(secret) })
        const unwilling = yield* connect(admins.owner.key, decline)
        const refused = yield* unwilling.call("set_two_fa_password", { account_id })
        assert.strictEqual(refused.error.code, "two_fa_password_required")
        assert.strictEqual(unwilling.forms.length, 1)
        const willing = yield* connect(admins.owner.key, accept({ current_password: secret }))
        assert.strictEqual((yield* willing.call("set_two_fa_password", { account_id })).action, "two_fa_set")
        assert.strictEqual((yield* willing.call("set_two_fa_password", { account_id })).action, "two_fa_set")
        assert.strictEqual(willing.forms.length, 1)
      }))

    it.effect("that declares none is refused with the page of the login, and so is one whose person does not answer", () =>
      Effect.gen(function*() {
        const { key, ...stage } = yield* staged()
        const person = yield* meet()
        const { body: login } = yield* stage.connect(person.phone)
        const page = `${World.baseUrl}/console/logins/${login.id}`
        const silent = yield* connect(key, undefined)
        const refused = yield* silent.call("submit_login_code", { login_id: login.id })
        assert.deepInclude(refused.error, { code: "console_page_required", param: "code" })
        assert.include(refused.error.message, page)
        assert.isTrue(silent.answers.every(({ headers }) => headers.get("mcp-session-id") === null))
        const absent = yield* connect(key, () => new Promise(() => {}))
        const waiting = yield* Effect.forkScoped(absent.call("submit_login_code", { login_id: login.id }))
        yield* Effect.repeat(Effect.promise(() => new Promise((resolve) => setTimeout(resolve, 5))), {
          until: () => absent.forms.length === 1
        })
        yield* TestClock.adjust("100 seconds")
        assert.include((yield* Fiber.join(waiting)).error.message, page)
        assert.strictEqual((yield* stage.read(login.id)).body.attempts_left, 5)
      }))

    it.effect("whose answer reaches another process is sent to the page of the login, and nothing is done", () =>
      Effect.gen(function*() {
        const { key, ...stage } = yield* staged()
        const person = yield* meet()
        const { body: login } = yield* stage.connect(person.phone)
        const code = yield* person.code
        const astray = yield* connect(key, accept({ code }), yield* Mcp.webHandler())
        const waiting = yield* Effect.forkScoped(astray.call("submit_login_code", { login_id: login.id }))
        // Of initialize, of the notification after it, of the call and of the answer.
        yield* Effect.repeat(Effect.promise(() => new Promise((resolve) => setTimeout(resolve, 5))), {
          until: () => astray.answers.filter(({ status }) => status === 202).length === 2
        })
        yield* TestClock.adjust("100 seconds")
        const { error } = yield* Fiber.join(waiting)
        assert.strictEqual(error.code, "console_page_required")
        assert.include(error.message, `${World.baseUrl}/console/logins/${login.id}`)
        assert.strictEqual((yield* stage.read(login.id)).body.attempts_left, 5)
      }))
  })
})
