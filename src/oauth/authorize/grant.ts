import { Clock, Duration, Effect, Redacted, Schema } from "effect"
import { record } from "../../changes/Record.ts"
import { isUuid } from "../../domain/JsonShapes.ts"
import { codeLifetime, resourceAddress } from "../../domain/oauth/OAuth.ts"
import type { ChosenAccess, ClientOrigin } from "../../domain/oauth/OAuthRecords.ts"
import { needsPassword, type Scope } from "../../domain/people/Access.ts"
import type { Unlocked } from "../../ports/archive/ArchiveUnlock.ts"
import { Db } from "../../ports/Db.ts"
import { type ListQuery, OAuthGrants, OAuthSecrets } from "../../ports/oauth/OAuthPorts.ts"
import { ConsoleSessions, type SignedIn } from "../../ports/signin/ConsoleSessions.ts"
import { isDocumentAddress } from "../ClientDocument.ts"
import { byAdmin } from "../ConnectionEntries.ts"
import { isLoopback } from "../RedirectUri.ts"
import { redirectCode } from "./redirect.ts"
import type { AuthorizeRequest } from "./Request.ts"

/** The admin's choice on the consent page. */
export interface ConsentChoice extends ChosenAccess {
  readonly scopes: ReadonlyArray<string>
  /** The connections that end when this one begins; one that cannot be replaced by it is left alone. */
  readonly replaces: ReadonlyArray<string>
  /** The console password as typed; it counts only when a scope that changes something is chosen. */
  readonly password: Redacted.Redacted
  /** The opened archive, whose password is kept with the connection if it may read the archive; null to keep none. */
  readonly archive: Unlocked | null
}

/** No scope is chosen that was offered. */
class NothingChosen extends Schema.TaggedError<NothingChosen>()("NothingChosen", {}) {}

/** An account or a department is chosen that the admin cannot access. */
class NotAccessible extends Schema.TaggedError<NotAccessible>()("NotAccessible", {}) {}

/** The admin has been disabled since the page was shown, or the organization closed. */
class AdminGone extends Schema.TaggedError<AdminGone>()("AdminGone", {}) {}

/** The accounts and departments that the admin may let an application use, as far as the search finds them. */
export const choices = Effect.fnUntraced(function*(
  admin: SignedIn,
  wanted: { readonly accounts: ListQuery; readonly departments: ListQuery }
) {
  const grants = yield* OAuthGrants
  const valid = ({ find, ticked }: ListQuery): ListQuery => ({ find, ticked: ticked.filter(isUuid) })
  return yield* (yield* Db).transaction(
    admin.organizationId,
    grants.choices(admin, { accounts: valid(wanted.accounts), departments: valid(wanted.departments) })
  )
})

const applying = ({ client, host, issuer, redirectUri, resource }: AuthorizeRequest) => ({
  client,
  host,
  loopback: isLoopback(redirectUri),
  resource: resourceAddress(issuer.baseUrl, resource)
})

/** The connections that exist of the application and that the admin may let this one take the place of. */
export const replaceable = Effect.fnUntraced(function*(request: AuthorizeRequest, admin: SignedIn) {
  const grants = yield* OAuthGrants
  const now = new Date(yield* Clock.currentTimeMillis)
  return yield* (yield* Db).read(admin.organizationId, grants.replaceable(admin, applying(request), now))
})

/** Disconnects those of the connections that this one replaces, within its transaction; before the admin is locked. */
const replace = Effect.fnUntraced(function*(
  request: AuthorizeRequest,
  admin: SignedIn,
  ids: ReadonlyArray<string>,
  origin: ClientOrigin,
  now: Date
) {
  if (ids.length === 0) return
  const grants = yield* OAuthGrants
  const chosen = new Set(ids)
  const live = yield* grants.replaceable(admin, applying(request), now)
  for (const id of live.map(({ id }) => id).filter((id) => chosen.has(id)).sort()) {
    const connection = yield* grants.lock(admin.organizationId, id)
    if (connection === null || connection.revoked) continue
    yield* grants.disconnect(admin.organizationId, id, now)
    const details = { label: connection.label, replaced: true }
    yield* record(byAdmin(admin, origin), "ai_connection.revoked", { id }, details)
  }
})

/** Connects the application as the admin has chosen, and answers the redirect with its code. */
export const grant = Effect.fnUntraced(function*(
  request: AuthorizeRequest,
  admin: SignedIn,
  choice: ConsentChoice,
  origin: ClientOrigin
) {
  const scopes: ReadonlyArray<Scope> = request.offered.filter((scope) => choice.scopes.includes(scope))
  if (scopes.length === 0) return yield* new NothingChosen()
  const grants = yield* OAuthGrants
  const db = yield* Db
  const access: ChosenAccess = choice.everything
    ? { scopeType: "accounts", everything: true, ids: [] }
    : { scopeType: choice.scopeType, everything: false, ids: [...new Set(choice.ids)] }
  if (!access.ids.every(isUuid)) return yield* new NotAccessible()
  if (!(yield* db.transaction(admin.organizationId, grants.canAccess(admin, access)))) return yield* new NotAccessible()
  if (scopes.some(needsPassword)) {
    yield* (yield* ConsoleSessions).verifyPassword(admin, choice.password, origin.ip)
  }
  const secrets = yield* OAuthSecrets
  const id = yield* secrets.newId
  const code = yield* secrets.make("code")
  const unlock = choice.archive === null || request.archiveMode === "local" || !scopes.includes("archive:read")
    ? null
    : yield* choice.archive.storedUnder(code, id)
  const now = yield* Clock.currentTimeMillis
  const createdAt = new Date(now)
  const expiresAt = new Date(now + Duration.toMillis(codeLifetime))
  yield* db.transaction(
    admin.organizationId,
    Effect.gen(function*() {
      yield* replace(request, admin, choice.replaces, origin, createdAt)
      if (!(yield* grants.isActive(admin))) return yield* new AdminGone()
      yield* grants.connect(admin.organizationId, {
        id,
        adminId: admin.adminId,
        clientId: request.client.id,
        clientName: request.client.name,
        clientHost: request.host,
        clientKnown: request.known,
        mode: request.archiveMode,
        resource: resourceAddress(request.issuer.baseUrl, request.resource),
        scopes,
        access,
        hasStoredPassword: unlock !== null,
        createdAt,
        expiresAt
      })
      yield* grants.addCode(admin.organizationId, id, {
        digest: secrets.digest(code),
        redirectUri: request.redirectUri,
        challenge: request.challenge,
        scopes,
        unlock,
        createdAt,
        expiresAt
      })
      yield* record(byAdmin(admin, origin), "oauth.connected", { id }, {
        client_name: request.client.name,
        client_host: request.host,
        ...(isDocumentAddress(request.client.id) ? { client_document: request.client.id } : {}),
        resource: request.resource,
        scopes: scopes.join(" "),
        ...(request.archiveMode === "local" ? { archive_mode: "local" } : {}),
        ...(unlock === null ? {} : { archive_password: "kept" }),
        [access.scopeType]: access.everything ? "all" : access.ids.length
      })
    })
  )
  return redirectCode(request, Redacted.value(code))
})
