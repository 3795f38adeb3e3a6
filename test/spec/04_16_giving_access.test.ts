import { describe, expect, layer } from "@effect/vitest"
import { Effect } from "effect"
import * as Mcp from "../mcp/support.ts"
import * as Pages from "../support/http/pages.ts"
import { postgres } from "../support/postgres/database.ts"
import * as World from "../support/world.ts"

const stage = Effect.gen(function*() {
  const { admins, id } = yield* World.makeOrganization()
  yield* Pages.givePassword(id, admins.owner.id)
  const account = yield* World.makeAccount(id)
  const access = (of: string) => `/v1/admins/${of}/access`
  const grants = { account_ids: [account], department_ids: [] }
  /** A request that gives much, as it is sent and as a tool is called; the admin whom it concerns is as before. */
  const giving = (["superadmin", "billing", "archive"] as const).flatMap((role) => [
    {
      method: "POST",
      path: "/v1/admins",
      tool: "invite_admin",
      params: {},
      body: { email: `${role}@example.com`, role }
    },
    {
      method: "PUT",
      path: `/v1/admins/${admins.admin.id}/role`,
      tool: "set_admin_role",
      params: { admin_id: admins.admin.id },
      body: { role }
    }
  ])
  const archive = [
    {
      method: "POST",
      path: "/v1/admins",
      tool: "invite_admin",
      params: {},
      body: { email: "reader@example.com", role: "admin", access: { archive: true } }
    },
    {
      method: "PUT",
      path: access(admins.admin.id),
      tool: "set_admin_access",
      params: { admin_id: admins.admin.id },
      body: { ...grants, archive: true }
    },
    // The role archive reads the archive of each account that it comes to be granted.
    {
      method: "PUT",
      path: access(admins.archive.id),
      tool: "set_admin_access",
      params: { admin_id: admins.archive.id },
      body: grants
    }
  ]
  return { id, account, admins, grants, requests: [...giving, ...archive] }
})

const unchanged = (id: string) => Effect.map(World.journal(id), (events) => events.map(({ action }) => action))

describe("4.16, 10.4 what gives access to every account, or to the archive,", () => {
  layer(World.world(postgres))((it) => {
    it.effect("is refused over REST without the console password and with a wrong one, and an attacker has to wait", () =>
      Effect.gen(function*() {
        const { admins, id, requests } = yield* stage
        const { key } = admins.owner
        for (const { body, method, path } of requests) {
          const without = yield* World.send(method, path, { key, body })
          expect([body, ...World.refusal(without)]).toEqual([body, 403, "password_required", "current_password"])
        }
        expect(yield* unchanged(id)).toEqual([])
        for (const { body, method, path } of requests.slice(0, 6)) {
          const wrong = yield* World.send(method, path, { key, body: { ...body, current_password: "a guess" } })
          expect([body, ...World.refusal(wrong)]).toEqual([body, 403, "password_incorrect", "current_password"])
        }
        const { body, method, path } = requests[0]!
        const waits = yield* World.send(method, path, { key, body: { ...body, current_password: Pages.password } })
        expect([waits.status, waits.body.error.code]).toEqual([429, "too_many_attempts"])
        expect((yield* unchanged(id)).filter((action) => action !== "console_password.failed")).toEqual([])
      }))

    it.effect("is done with the password", () =>
      Effect.gen(function*() {
        const { admins, requests } = yield* stage
        for (const { body, method, path } of requests) {
          const current_password = Pages.password
          const done = yield* World.send(method, path, { key: admins.owner.key, body: { ...body, current_password } })
          expect([body, done.status]).toEqual([body, 200])
        }
      }))

    it.effect("is done by no assistant: it is sent to the console's page, and a client that can asks the person", () =>
      Effect.gen(function*() {
        const { admins, id, requests } = yield* stage
        const { key } = admins.owner
        for (const { body, params, tool } of requests) {
          const page = tool === "invite_admin" ? "/console/people/invite" : `/console/people/${params.admin_id}`
          for (const password of [{}, { current_password: Pages.password }]) {
            const { body: refused } = Mcp.resultOf(yield* Mcp.call(tool, { ...params, ...body, ...password }, { key }))
            expect([tool, refused.error.code, refused.error.param]).toEqual([
              tool,
              "console_page_required",
              "current_password"
            ])
            expect(refused.error.message).toContain(`${World.baseUrl}${page}`)
          }
          const asked = yield* Mcp.ask("tools/call", {
            name: tool,
            arguments: { ...params, ...body },
            ...Mcp.eliciting
          }, { key })
          expect([tool, asked.body.result.resultType]).toEqual([tool, "input_required"])
          expect(Object.keys(asked.body.result.inputRequests)).toEqual(["current_password"])
        }
        expect(yield* unchanged(id)).toEqual([])
      }))

    it.effect("is not given by a way round: a kept grant that a new role opens, or more accounts for a reader", () =>
      Effect.gen(function*() {
        const { account, admins, grants, id } = yield* stage
        const { key } = admins.owner
        const put = (of: string, what: string, body: object) => World.put(`/v1/admins/${of}/${what}`, key, body)
        yield* World.set(id, "admin", admins.billing.id, { archive_access: true })
        const role = yield* put(admins.billing.id, "role", { role: "admin" })
        expect(World.refusal(role)).toEqual([403, "password_required", "current_password"])
        yield* World.set(id, "admin", admins.admin.id, { archive_access: true })
        const more = yield* put(admins.admin.id, "access", grants)
        expect(World.refusal(more)).toEqual([403, "password_required", "current_password"])
        expect((yield* World.get(`/v1/admins/${admins.admin.id}`, key)).body.access.account_ids).toEqual([])
        yield* World.grant(id, admins.admin.id, { accounts: [account] })
        const same = yield* put(admins.admin.id, "access", grants)
        expect(same.status).toBe(200)
      }))

    it.effect("and nothing less needs it: an admin with accounts, one whose archive is taken, one who was billing", () =>
      Effect.gen(function*() {
        const { admins, grants } = yield* stage
        const { key } = admins.owner
        const put = (of: string, what: string, body: object) => World.put(`/v1/admins/${of}/${what}`, key, body)
        const invited = yield* World.send("POST", "/v1/admins", {
          key,
          body: { email: "less@example.com", role: "admin", access: grants }
        })
        const answers = [
          invited,
          yield* put(admins.admin.id, "access", { ...grants, archive: false }),
          yield* put(admins.billing.id, "role", { role: "admin" }),
          yield* put(admins.archive.id, "role", { role: "admin" })
        ]
        expect(answers.map(({ status }) => status)).toEqual([200, 200, 200, 200])
        const tool = Mcp.resultOf(
          yield* Mcp.call("set_admin_role", { admin_id: admins.superadmin.id, role: "admin" }, { key })
        )
        expect([tool.how, tool.body.role]).toEqual(["done", "admin"])
      }))
  })
})
