/** An application and an admin in a test: what they send, and what comes back. */
import { Clock, Effect, Option, Redacted } from "effect"
import * as crypto from "node:crypto"
import type { OrganizationId, Scope } from "../../src/domain/people/Access.ts"
import { PasswordHasher } from "../../src/layers/crypto/signin/PasswordHasher.ts"
import * as Authorize from "../../src/oauth/authorize/Authorize.ts"
import { Credentials } from "../../src/ports/credentials/Credentials.ts"
import { ConsoleSessions, type SignedIn } from "../../src/ports/signin/ConsoleSessions.ts"
import * as World from "../support/world.ts"

export const issuer = { baseUrl: World.baseUrl, organizationId: null }
export const v1 = `${World.baseUrl}/v1`
export const mcp = `${World.baseUrl}/mcp`
export const callback = "https://app.example/callback"

export const formHeaders = { "content-type": "application/x-www-form-urlencoded" }

type Params = Readonly<Record<string, string | ReadonlyArray<string> | undefined>>

/** The text of a query or a form; a list is a parameter given more than once. */
const encode = (params: Params): string =>
  new URLSearchParams(
    Object.entries(params).flatMap(([name, value]) =>
      (value === undefined ? [] : typeof value === "string" ? [value] : value).map((
        item
      ): [string, string] => [name, item])
    )
  ).toString()

/** Posts a form to the token or the revocation endpoint. */
export const post = (path: string, params: Params, headers: Record<string, string> = {}) =>
  World.send("POST", path, { raw: encode(params), headers: { ...formHeaders, ...headers } })

/** An application that has registered itself. */
export interface Application {
  readonly client_id: string
  readonly client_secret?: string
}

export const registration = (body: Record<string, unknown> = {}, headers: Record<string, string> = {}) =>
  World.send("POST", "/oauth/register", {
    body: { client_name: "An app", redirect_uris: [callback], token_endpoint_auth_method: "none", ...body },
    headers
  })

/** Registers an application; a public one by default. */
export const registerApplication = (body: Record<string, unknown> = {}) =>
  Effect.flatMap(registration(body), (answer) =>
    answer.status === 201
      ? Effect.succeed<Application>(answer.body)
      : Effect.die(new Error(JSON.stringify(answer.body))))

export const makeVerifier = () => crypto.randomBytes(32).toString("base64url")
export const challengeOf = (verifier: string) => crypto.createHash("sha256").update(verifier).digest("base64url")

/** Begins a session of the admin at the console, and answers its cookie. */
export const startSession = Effect.fnUntraced(function*(organizationId: OrganizationId, adminId: string) {
  const sessions = yield* ConsoleSessions
  const since = new Date(yield* Clock.currentTimeMillis)
  const visit = { cookies: undefined, site: issuer, ip: null, requestId: null, userAgent: undefined }
  const [cookie = ""] = yield* sessions.start({ organizationId, adminId }, visit, { since, factor: null })
  return cookie.split(";", 1)[0] ?? ""
})

/** A session of the admin at the console. */
export const signIn = Effect.fnUntraced(function*(organizationId: OrganizationId, adminId: string) {
  const cookie = yield* startSession(organizationId, adminId)
  return Option.getOrThrow(yield* (yield* ConsoleSessions).current(cookie, issuer))
})

/** The query of a request for authorization that is as it should be, by default. */
export const query = (application: Application, challenge: string, params: Params = {}): string =>
  encode({
    response_type: "code",
    client_id: application.client_id,
    redirect_uri: callback,
    code_challenge: challenge,
    code_challenge_method: "S256",
    resource: v1,
    scope: "org:read",
    state: "a state",
    ...params
  })

export interface Granting {
  readonly params?: Params
  readonly scopes?: ReadonlyArray<Scope>
  readonly scopeType?: "accounts" | "departments"
  readonly everything?: boolean
  readonly ids?: ReadonlyArray<string>
  readonly replaces?: ReadonlyArray<string>
}

/** The console password of every admin that `setPassword` gave one. */
export const password = "correct horse battery staple"

/** Grants as the consent page does; fails as it would. */
export const approve = Effect.fnUntraced(function*(
  application: Application,
  admin: SignedIn,
  challenge: string,
  { everything = false, ids = [], params = {}, replaces = [], scopeType = "accounts", scopes }: Granting = {},
  typed = password
) {
  const checked = yield* Authorize.check(query(application, challenge, params), issuer, Option.some(admin))
  if (checked._tag !== "Ready") return yield* Effect.die(new Error(JSON.stringify(checked)))
  const location = new URL(
    yield* Authorize.grant(
      checked.request,
      checked.admin,
      {
        scopes: scopes ?? checked.request.offered,
        replaces,
        scopeType,
        everything,
        ids,
        password: Redacted.make(typed),
        archive: null
      },
      { ip: `address of ${admin.adminId}`, requestId: "req_test" }
    )
  )
  return { location, code: location.searchParams.get("code") ?? "" }
})

/** An application that an admin has granted access, with the code that it got. */
export interface Granted {
  readonly application: Application
  readonly code: string
  readonly verifier: string
}

export const redeemWith = ({ application, code, verifier }: Granted, params: Params = {}) =>
  post("/oauth/token", {
    grant_type: "authorization_code",
    client_id: application.client_id,
    code,
    code_verifier: verifier,
    redirect_uri: callback,
    ...params
  })

export const refreshWith = (application: Application, refresh_token: string, params: Params = {}) =>
  post("/oauth/token", {
    grant_type: "refresh_token",
    client_id: application.client_id,
    refresh_token,
    ...params
  })

export const revokeWith = (application: Application, token: string, params: Params = {}) =>
  post("/oauth/revoke", { client_id: application.client_id, token, ...params })

/** Asks for a token's state as a resource server. */
export const introspect = (token: string | undefined, id: string, secret: string) =>
  post("/oauth/introspect", { token }, {
    authorization: `Basic ${Buffer.from(`${encodeURIComponent(id)}:${encodeURIComponent(secret)}`).toString("base64")}`
  })

export interface Tokens {
  readonly access_token: string
  readonly refresh_token: string
  readonly scope: string
  readonly expires_in: number
  readonly token_type: string
}

export const tokens = (answer: World.Answer): Tokens => {
  if (answer.status !== 200) throw new Error(JSON.stringify(answer.body))
  return answer.body
}

/** Gives the admin a console password. */
export const setPassword = Effect.fnUntraced(function*(organizationId: string, adminId: string) {
  const hashed = yield* (yield* PasswordHasher).hash(Redacted.make(password))
  yield* World.set(organizationId, "admin", adminId, { password_hash: hashed })
})

/** An organization of which an admin, the owner by default, is signed in and has let an application in. */
export const stage = Effect.fnUntraced(function*(granting: Granting = {}, by: "owner" | "superadmin" = "owner") {
  const organization = yield* World.makeOrganization()
  const { owner, [by]: person } = organization.admins
  yield* setPassword(organization.id, person.id)
  const admin = yield* signIn(organization.id, person.id)
  const application = yield* registerApplication()
  const connect = Effect.fnUntraced(function*(more: Granting = {}, app = application) {
    const verifier = makeVerifier()
    const { code } = yield* approve(app, admin, challengeOf(verifier), { ...granting, ...more })
    return { application: app, code, verifier } satisfies Granted
  })
  return { organization, owner, admin, application, connect }
})

/** Besides, the tokens of a first connection. */
export const connected = Effect.fnUntraced(function*(granting: Granting = {}, by: "owner" | "superadmin" = "owner") {
  const made = yield* stage(granting, by)
  const granted = yield* made.connect()
  const first = tokens(yield* redeemWith(granted))
  const [connection] = yield* connections(made.organization.id)
  return { ...made, granted, tokens: first, connectionId: connection?.id ?? "" }
})

export interface StoredConnection {
  readonly id: string
  readonly kind: string
  readonly label: string
  readonly client_name: string
  readonly client_document: string | null
  readonly client_host: string
  readonly client_known: string | null
  readonly scopes: ReadonlyArray<string>
  readonly scope_type: string
  readonly all_accounts: boolean
  readonly account_ids: ReadonlyArray<string>
  readonly department_ids: ReadonlyArray<string>
  readonly admin_id: string
  readonly expires_at: Date | null
  readonly revoked_at: Date | null
  readonly last_used_at: Date | null
}

/** The connections as they are stored, oldest first. */
export const connections = (organizationId: string) =>
  World.query<StoredConnection>(
    organizationId,
    (sql) =>
      sql`
      select *,
        array(select account_id from ai_connection_account where connection_id = id order by place) as account_ids,
        array(select department_id from ai_connection_department where connection_id = id order by place)
          as department_ids
      from ai_connection where organization_id = ${organizationId} order by created_at, id`
  )

/** The status of a request to the interface with the token, and its code. */
export const use = (token: string) => Effect.map(World.get("/v1/organization", token), World.refusal)

/** Whether the token works at a resource. */
export const works = (token: string, resource: string) =>
  Effect.flatMap(Credentials, (credentials) =>
    Effect.match(credentials.authenticate(Redacted.make(token), resource), {
      onSuccess: () => true,
      onFailure: () => false
    }))

export const ok = [200, undefined]
export const invalidToken = [401, "invalid_token"]

/** What a refusal of the authorization server says. */
export const refused = ({ body, status }: World.Answer): ReadonlyArray<unknown> => [status, body?.error]

/** What a grant that is not one is answered. */
export const invalidGrant = [400, "invalid_grant"]
