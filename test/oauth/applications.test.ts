import { describe, expect, layer } from "@effect/vitest"
import { Effect, Option } from "effect"
import * as Authorize from "../../src/oauth/authorize/Authorize.ts"
import {
  approveApplication,
  listApplications,
  requireApproval,
  withdrawApplication
} from "../../src/operator/oauth/Applications.ts"
import { forEachDatabase } from "../support/postgres/database.ts"
import * as World from "../support/world.ts"
import {
  approve,
  challengeOf,
  connections,
  invalidToken,
  issuer,
  makeVerifier,
  mcp,
  ok,
  query,
  redeemWith,
  registerApplication,
  setPassword,
  signIn,
  stage,
  tokens,
  use
} from "./support.ts"

const challenge = challengeOf(makeVerifier())

describe("which applications an organization's admins connect", () => {
  forEachDatabase((_, database) => {
    layer(World.world(database))((it) => {
      it.effect("where approval is required, only owner and superadmins connect what is not approved, and the operator approves it by its host", () =>
        Effect.gen(function*() {
          const { admins, id } = yield* World.makeOrganization()
          const application = yield* registerApplication()
          const local = yield* registerApplication({ redirect_uris: ["http://127.0.0.1:33418/cb"] })
          const asks = Effect.fnUntraced(function*(role: keyof typeof admins, app = application, params = {}) {
            const admin = yield* signIn(id, admins[role].id)
            const checked = yield* Authorize.check(query(app, challenge, params), issuer, Option.some(admin))
            return checked._tag === "Unapproved" ? checked.application : checked._tag
          })
          const roles = ["owner", "superadmin", "admin", "billing", "archive"] as const
          const all = Effect.forEach(roles, (role) => asks(role))
          const state = (json: unknown) => ({ organization: id, ...(json as object) })

          expect(yield* all).toEqual(["Ready", "Ready", "Ready", "Ready", "Ready"])
          expect(yield* requireApproval.run({ organization: id, required: true })).toEqual(
            state({ approval_required: true, approved: [] })
          )
          const refused = ["Ready", "Ready", "app.example", "app.example", "app.example"]
          expect(yield* all).toEqual(refused)
          expect(yield* asks("admin", local, { redirect_uri: "http://127.0.0.1:5000/cb" })).toBe("127.0.0.1")
          for (let times = 0; times < 2; times++) {
            yield* approveApplication.run({ organization: id, application: "app.example" })
          }
          expect(yield* all).toEqual(["Ready", "Ready", "Ready", "Ready", "Ready"])
          expect(yield* asks("admin", local, { redirect_uri: "http://127.0.0.1:5000/cb" })).toBe("127.0.0.1")
          expect(yield* listApplications.run({ organization: id })).toEqual(
            state({ approval_required: true, approved: ["app.example"] })
          )
          const foreign = yield* World.makeOrganization()
          expect(yield* listApplications.run({ organization: foreign.id })).toMatchObject({ approved: [] })
          yield* withdrawApplication.run({ organization: id, application: "app.example" })
          expect(yield* all).toEqual(refused)
          yield* requireApproval.run({ organization: id, required: false })
          expect(yield* all).toEqual(["Ready", "Ready", "Ready", "Ready", "Ready"])
          const entries = (yield* World.journal(id)).filter(({ action }) => action.startsWith("application."))
          expect(entries.map(({ action, actor_type, target_id }) => [action, actor_type, target_id])).toEqual([
            ["application.approval_set", "operator", id],
            ["application.approved", "operator", "app.example"],
            ["application.withdrawn", "operator", "app.example"],
            ["application.approval_set", "operator", id]
          ])
          const wrong = yield* Effect.flip(approveApplication.run({ organization: id, application: "An app" }))
          expect(wrong.message).toContain("the host that its codes go to")
        }))

      it.effect("a second consent of an application shows the connections that it may replace, and replaces those alone that are ticked", () =>
        Effect.gen(function*() {
          const { admin, application, connect, organization } = yield* stage()
          const again = yield* registerApplication({ client_name: "Another name" })
          const elsewhere = yield* registerApplication({ redirect_uris: ["https://other.example/cb"] })
          const superadmin = organization.admins.superadmin
          yield* setPassword(organization.id, superadmin.id)
          const other = yield* signIn(organization.id, superadmin.id)
          const connected = Effect.fnUntraced(function*(granting = {}, app = application) {
            const before = new Set((yield* connections(organization.id)).map(({ id }) => id))
            const issued = tokens(yield* redeemWith(yield* connect(granting, app)))
            const id = (yield* connections(organization.id)).find(({ id }) => !before.has(id))!.id
            return { id, token: issued.access_token }
          })
          const first = yield* connected()
          const second = yield* connected()
          const renamed = yield* connected({}, again)
          yield* connected({ params: { resource: mcp } })
          yield* connect({ params: { redirect_uri: "https://other.example/cb" } }, elsewhere)
          const theirs = makeVerifier()
          const { code } = yield* approve(application, other, challengeOf(theirs))
          const others = tokens(yield* redeemWith({ application, code, verifier: theirs }))
          const foreign = (yield* connections(organization.id)).find(({ admin_id }) => admin_id === superadmin.id)!.id

          const checked = yield* Authorize.check(query(application, challenge), issuer, Option.some(admin))
          if (checked._tag !== "Ready") return expect.unreachable()
          const offered = yield* Authorize.replaceable(checked.request, admin)
          expect(new Map(offered.map(({ id, name, sameClient }) => [id, [name, sameClient]]))).toEqual(
            new Map([
              [renamed.id, ["Another name", false]],
              [second.id, ["An app", true]],
              [first.id, ["An app", true]]
            ])
          )
          const third = yield* connected({ replaces: [first.id, foreign, "not-an-id"] })
          expect(yield* use(first.token)).toEqual(invalidToken)
          for (const { token } of [second, renamed, third, { token: others.access_token }]) {
            expect(yield* use(token)).toEqual(ok)
          }
          expect((yield* Authorize.replaceable(checked.request, admin)).map(({ id }) => id).sort()).toEqual(
            [renamed.id, second.id, third.id].sort()
          )
          expect((yield* World.journal(organization.id)).slice(-2)).toMatchObject([
            { action: "ai_connection.revoked", target_id: first.id, actor_admin_id: admin.adminId },
            { action: "oauth.connected", target_id: third.id }
          ])
          yield* World.set(organization.id, "admin", admin.adminId, { disabled_at: new Date(0) })
          const gone = yield* Effect.flip(approve(application, admin, challenge, { replaces: [second.id] }))
          expect(gone._tag).toBe("AdminGone")
          expect((yield* connections(organization.id)).find(({ id }) => id === second.id)?.revoked_at).toBeNull()
        }))
    })
  })
})
