/** The consent page, and an admin in front of it. */
import { Effect } from "effect"
import { type Role } from "../../../../src/domain/people/Access.ts"
import { challengeOf, makeVerifier, query, registerApplication } from "../../../oauth/support.ts"
import * as Pages from "../../../support/http/pages.ts"
import * as World from "../../../support/world.ts"

export const path = "/oauth/authorize"

/** An application and an admin of the role, signed in, who reaches two accounts and a department. */
export const stage = Effect.fnUntraced(function*(params: Parameters<typeof query>[2] = {}, role: Role = "owner") {
  const { admins, id } = yield* World.makeOrganization()
  const department = yield* World.makeDepartment(id, "Sales")
  const accounts = [
    yield* World.makeAccount(id),
    yield* World.makeAccount(id, { facts: { department_id: department } })
  ]
  const admin = admins[role]
  const cookie = yield* Pages.signIn(id, admin.id)
  const application = yield* registerApplication({ client_name: "A <b>bold</b> \"app\"" })
  const verifier = makeVerifier()
  const asked = query(application, challengeOf(verifier), { scope: undefined, ...params })
  return { id, admin, admins, accounts, department, cookie, application, verifier, asked, url: `${path}?${asked}` }
})

export const consent = Effect.fnUntraced(function*(url: string, cookie: string) {
  const page = yield* Pages.visit("GET", url, { cookie })
  return { page, ...Pages.formOf(page, path) }
})

export const allow = { decision: "allow", scope_type: "accounts", scope: "org:read" }
