/** What the cases are sent to: organizations in several states, and credentials of every kind for them. */
import { Effect, Redacted } from "effect"
import { resourceAddress } from "../../src/domain/oauth/OAuth.ts"
import * as OAuth from "../../test/oauth/support.ts"
import * as Populated from "../../test/support/populated.ts"
import type { Ids } from "../../test/support/random.ts"
import * as World from "../../test/support/world.ts"
import type { Who } from "./case.ts"

export interface Connected {
  readonly accessToken: string
  readonly refreshToken: string
}

export interface Stage {
  /** Keys by who has them; the number of a case picks one. */
  readonly keys: Readonly<Record<Who, ReadonlyArray<string>>>
  readonly accounts: ReadonlyArray<string>
  /** What ids of a kind name; the keys are those that cases may revoke. */
  readonly ids: Ids
  /** Credentials that work no more, or never did. */
  readonly deadKeys: ReadonlyArray<string>
  readonly organizationId: string
  readonly ownerEmail: string
  /** The owner's sessions at the console. */
  readonly cookies: ReadonlyArray<string>
  readonly publicClient: string
  readonly confidentialClient: { readonly id: string; readonly secret: string }
  readonly connections: ReadonlyArray<Connected>
}

/** Every address that any application has registered begins with this. */
export const registered = "https://app.example/"

const rolePool = ["owner", "superadmin", "admin", "billing", "archive"] as const

const connect = Effect.fnUntraced(
  function*(
    application: OAuth.Application,
    admin: Effect.Success<ReturnType<typeof OAuth.signIn>>,
    resource: "v1" | "mcp",
    ids: ReadonlyArray<string>
  ) {
    const verifier = OAuth.makeVerifier()
    const params = {
      resource: resourceAddress(World.baseUrl, resource),
      scope: "org:read accounts:write",
      redirect_uri: OAuth.callback
    }
    const { code } = yield* OAuth.approve(application, admin, OAuth.challengeOf(verifier), { params, ids })
    const tokens = OAuth.tokens(yield* OAuth.redeemWith({ application, code, verifier }))
    return { accessToken: tokens.access_token, refreshToken: tokens.refresh_token }
  }
)

/** Makes everything; `size` is how many keys a role has, and follows from how fast the cases are sent. */
export const make = Effect.fnUntraced(function*(size: number) {
  const simulated = { simulated: true }
  const main = yield* Populated.make(simulated)
  const foreign = yield* Populated.make(simulated)
  const closed = yield* World.makeOrganization({ ...simulated, closed_at: new Date(0) })
  const pool = (organizationId: string, adminId: string, count: number, scopes?: ReadonlyArray<"org:read">) =>
    Effect.forEach(
      Array.from({ length: count }),
      () =>
        Effect.map(World.makeKey(organizationId, adminId, scopes, { label: "Fuzz" }), ({ key }) => Redacted.value(key))
    )
  const { admins, id } = main
  const byRole = yield* Effect.forEach(
    rolePool,
    (role) => Effect.map(pool(id, admins[role].id, role === "owner" ? size * 3 : size), (keys) => [role, keys] as const)
  )
  const expendable = yield* Effect.forEach(
    Array.from({ length: Math.ceil(size / 2) }),
    () => World.makeKey(id, admins.owner.id, ["org:read"], { label: "To revoke" })
  )
  const revoked = yield* World.makeKey(id, admins.owner.id, ["org:read"], { facts: { revoked_at: new Date(0) } })
  const expired = yield* World.makeKey(id, admins.owner.id, ["org:read"], { expiresAt: new Date(0) })
  const disabled = yield* World.makePerson(id, "admin", { facts: { disabled_at: new Date(0) } })
  yield* OAuth.setPassword(id, admins.owner.id)
  const [owner] = yield* World.query<{ email: string }>(
    id,
    (sql) => sql`select email from admin where organization_id = ${id} and id = ${admins.owner.id}`
  )
  const cookies = yield* Effect.forEach(
    Array.from({ length: 4 }),
    () => OAuth.startSession(id, admins.owner.id)
  )
  const admin = yield* OAuth.signIn(id, admins.owner.id)
  const open = yield* OAuth.registerApplication()
  const confidential = yield* OAuth.registerApplication({ token_endpoint_auth_method: "client_secret_post" })
  const connections = (resource: "v1" | "mcp", count: number) =>
    Effect.forEach(Array.from({ length: count }), () => connect(open, admin, resource, main.ids.account))
  const application = yield* connections("v1", Math.ceil(size / 10))
  const assistant = yield* connections("mcp", Math.ceil(size / 10))
  return {
    keys: {
      ...Object.fromEntries(byRole) as unknown as Record<typeof rolePool[number], ReadonlyArray<string>>,
      reader: yield* pool(id, admins.owner.id, size, ["org:read"]),
      closed: yield* pool(closed.id, closed.admins.owner.id, Math.ceil(size / 4)),
      foreign: yield* pool(foreign.id, foreign.admins.owner.id, Math.ceil(size / 2)),
      application: application.map(({ accessToken }) => accessToken),
      assistant: assistant.map(({ accessToken }) => accessToken),
      spent: yield* pool(id, admins.owner.id, 1)
    },
    accounts: main.ids.account,
    ids: {
      ...main.ids,
      account: [...main.ids.account, ...main.ids.account, ...foreign.ids.account.slice(0, 1)],
      key: expendable.map((key) => key.id)
    },
    deadKeys: [revoked, expired, disabled].map(({ key }) => Redacted.value(key)),
    organizationId: id,
    ownerEmail: owner?.email ?? "",
    cookies,
    publicClient: open.client_id,
    confidentialClient: { id: confidential.client_id, secret: confidential.client_secret ?? "" },
    connections: yield* connections("v1", Math.ceil(size / 12))
  } satisfies Stage
})
