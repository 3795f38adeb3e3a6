import { Clock, Context, Duration, Effect, Layer, Schedule } from "effect"
import { SqlClient } from "effect/sql"
import { ServiceUnavailable } from "../../../domain/Failure.ts"
import { isUuid } from "../../../domain/JsonShapes.ts"
import type { Code, OAuthConnection, Token } from "../../../domain/oauth/OAuthRecords.ts"
import { type OrganizationId, superadmins } from "../../../domain/people/Access.ts"
import { OAuthGrants, type Replaceable, type TokenFacts } from "../../../ports/oauth/OAuthPorts.ts"
import * as Sql from "../../postgres/Rows.ts"
import * as Tenant from "../../postgres/Tenant.ts"
import { canAccess, canAccessDepartment } from "../accounts/AccountAccess.ts"
import { LastUses } from "../credentials/LastUses.ts"
import { isOpen } from "../organization/Organizations.ts"
import { choices, unlimited } from "./OAuthChoices.ts"

/** The time that the outcome of a transaction whose end was not heard is asked for. */
export const DoubtDeadline = Context.Reference<Duration.Input>(
  "org-security-console/layers/sql/oauth/OAuthGrants/DoubtDeadline",
  {
    defaultValue: () => Duration.seconds(10)
  }
)

/** The application's id: of its registration, or the address of its document. */
const clientId = (sql: SqlClient.SqlClient) => sql`coalesce(client_document, client_id::text)`

/** Revokes a connection and forgets its codes and tokens, within its organization's transaction. */
export const disconnect = Effect.fnUntraced(function*(
  sql: SqlClient.SqlClient,
  organizationId: string,
  connectionId: string,
  at: Date
) {
  yield* Tenant.post(sql)(sql`
    update ai_connection set revoked_at = ${at}, has_stored_password = false
    where organization_id = ${organizationId} and id = ${connectionId} and revoked_at is null`)
  for (const table of ["oauth_code", "oauth_token"]) {
    yield* Tenant.post(sql)(
      sql`delete from ${sql(table)} where organization_id = ${organizationId} and connection_id = ${connectionId}`
    )
  }
})

/** Connections, codes and tokens in SQL; the connection's row is locked before anything of it is decided. */
export const layer = Layer.effect(
  OAuthGrants,
  Effect.gen(function*() {
    const sql = yield* SqlClient.SqlClient
    const post = Tenant.post(sql)
    const uses = yield* LastUses
    return OAuthGrants.of({
      locate: (what, digests) =>
        Effect.map(
          Tenant.directory(sql)(sql<{ organizationId: OrganizationId; connectionId: string }>`
            select organization_id as "organizationId", connection_id as "connectionId"
            from ${sql(what === "code" ? "oauth_code" : "oauth_token")} where ${sql.in("digest", digests)}`),
          ([row]) => row ?? null
        ),

      locateConnection: (connectionId) =>
        Effect.map(
          Tenant.directory(sql)(sql<{ organizationId: OrganizationId; connectionId: string }>`
            select organization_id as "organizationId", id as "connectionId"
            from ai_connection where id = ${connectionId} and kind = 'oauth'`),
          ([row]) => row ?? null
        ),

      isKept: (organizationId, connectionId, digests) =>
        Tenant.transaction(sql, organizationId)(
          sql`
            select 1 from ai_connection
            where organization_id = ${organizationId} and id = ${connectionId} for update`.pipe(
            Effect.andThen(sql`
              select 1 from oauth_token
              where organization_id = ${organizationId} and connection_id = ${connectionId}
                and ${sql.in("digest", digests)}`)
          )
        ).pipe(
          Effect.map((rows) => rows.length === 1),
          Effect.retry(Schedule.spaced(Duration.millis(250))),
          (asked) =>
            Effect.flatMap(DoubtDeadline, (duration) =>
              Effect.timeoutOrElse(asked, { duration, orElse: () => Effect.fail(new ServiceUnavailable()) })),
          // The database is waited for by the host's clock, whatever time the service goes by.
          Effect.provideService(Clock.Clock, Clock.Clock.defaultValue())
        ),

      inspect: (digests, resource, now) =>
        Effect.map(
          Tenant.directory(sql)(sql<TokenFacts>`
            select ai_connection.organization_id as "organizationId", ai_connection.id as "connectionId",
              ${clientId(sql)} as "clientId", admin.id as "adminId",
              array(select unnest(oauth_token.scopes) intersect select unnest(ai_connection.scopes)) as scopes,
              oauth_token.created_at as "createdAt", oauth_token.expires_at as "expiresAt"
            from oauth_token
            join ai_connection on ai_connection.organization_id = oauth_token.organization_id
              and ai_connection.id = oauth_token.connection_id
            join admin on admin.organization_id = ai_connection.organization_id and admin.id = ai_connection.admin_id
            where ${sql.in("oauth_token.digest", digests)} and oauth_token.kind = 'access'
              and oauth_token.expires_at > ${now} and resource = ${resource} and revoked_at is null
              and disabled_at is null and ${isOpen(sql)}`),
          ([row]) => row ?? null
        ),

      lock: (organizationId, connectionId) =>
        sql<OAuthConnection>`
          select ai_connection.id, ${clientId(sql)} as "clientId", client_name as "clientName", label, resource,
            revoked_at is not null as revoked, generation, admin.id as "adminId",
            coalesce(admin.name, admin.email) as "adminName", admin.disabled_at is not null as "adminDisabled",
            not ${isOpen(sql)} as "organizationClosed"
          from ai_connection
          join admin on admin.organization_id = ai_connection.organization_id and admin.id = admin_id
          where ai_connection.organization_id = ${organizationId} and ai_connection.id = ${connectionId}
          for update of ai_connection for share of admin`.pipe(Effect.orDie, Sql.one),

      code: (organizationId, connectionId, digests) =>
        sql<Code>`
          select digest, redirect_uri as "redirectUri", challenge, scopes, expires_at as "expiresAt", unlock,
            redeemed_at as "redeemedAt"
          from oauth_code
          where organization_id = ${organizationId} and connection_id = ${connectionId} and ${sql.in("digest", digests)}
          for update`.pipe(Effect.orDie, Sql.one),

      token: (organizationId, connectionId, digests) =>
        sql<Token>`
          select kind, digest, scopes, expires_at as "expiresAt", unlock, used_at as "usedAt"
          from oauth_token
          where organization_id = ${organizationId} and connection_id = ${connectionId} and ${sql.in("digest", digests)}
          for update`.pipe(Effect.orDie, Sql.one),

      isActive: ({ adminId, organizationId }) =>
        sql`
          select 1 from admin
          where organization_id = ${organizationId} and id = ${adminId} and disabled_at is null and ${isOpen(sql)}
          for share`.pipe(Effect.orDie, Effect.map((rows) => rows.length === 1)),

      canAccess: (admin, { ids, scopeType }) =>
        ids.length === 0 ? Effect.succeed(true) : (scopeType === "accounts"
          ? sql<{ found: number }>`
            select count(*) as found from account
            where organization_id = ${admin.organizationId} and id = any(${ids}::uuid[])
              and ${canAccess(sql, unlimited(admin))}`
          : sql<{ found: number }>`
            select count(*) as found from department
            where organization_id = ${admin.organizationId} and id = any(${ids}::uuid[])
              and ${canAccessDepartment(sql, unlimited(admin))}`).pipe(
            Effect.orDie,
            Effect.map(([row]) => row?.found === ids.length)
          ),

      choices: (admin, wanted) => choices(sql, admin, wanted),

      mayConnect: ({ organizationId, role }, application) =>
        superadmins.includes(role) ? Effect.succeed(true) : sql`
          select 1 from organization
          where id = ${organizationId} and (not approve_applications or exists (
            select 1 from approved_application
            where organization_id = ${organizationId} and application = ${application}))`.pipe(
          Effect.orDie,
          Effect.map((rows) => rows.length === 1)
        ),

      replaceable: ({ adminId, organizationId }, { client, host, loopback, resource }, now) =>
        Effect.andThen(
          uses.written,
          sql<Replaceable>`
          select id, client_name as name, client_host as host, ${clientId(sql)} = ${client.id} as "sameClient", scopes,
            created_at as "createdAt", last_used_at as "lastUsedAt"
          from ai_connection
          where organization_id = ${organizationId} and admin_id = ${adminId} and resource = ${resource}
            and revoked_at is null and expires_at > ${now}
            and (${clientId(sql)} = ${client.id} or ${
            loopback
              ? sql`split_part(client_host, ':', 1) = split_part(${host}, ':', 1) and client_name = ${client.name}`
              : sql`client_host = ${host}`
          })
          order by created_at desc, id desc limit 20`
        ).pipe(Effect.orDie),

      connect: Effect.fnUntraced(function*(organizationId, { access, ...connection }) {
        yield* post(sql`
          insert into ai_connection (organization_id, id, admin_id, kind, label, client_id, client_document, client_name,
            client_host, client_known, mode, resource, scopes, scope_type, all_accounts,
            has_stored_password, created_at, expires_at)
          values (${organizationId}, ${connection.id}, ${connection.adminId}, 'oauth', ${connection.clientName},
            ${isUuid(connection.clientId) ? connection.clientId : null},
            ${
          isUuid(connection.clientId) ? null : connection.clientId
        }, ${connection.clientName}, ${connection.clientHost}, ${connection.clientKnown},
            ${connection.mode}, ${connection.resource}, ${connection.scopes}, ${access.scopeType}, ${access.everything},
            ${connection.hasStoredPassword}, ${connection.createdAt}, ${connection.expiresAt})`)
        const kind = access.scopeType === "accounts" ? "account" : "department"
        yield* post(sql`
          insert into ${sql(`ai_connection_${kind}`)} (organization_id, connection_id, ${sql(`${kind}_id`)}, place)
          select ${organizationId}, ${connection.id}, chosen.id, chosen.place
          from unnest(${access.ids}::uuid[]) with ordinality as chosen (id, place)`)
      }),

      addCode: (organizationId, connectionId, code) =>
        post(sql`insert into oauth_code ${
          sql.insert({
            organization_id: organizationId,
            connection_id: connectionId,
            ...code.digest,
            redirect_uri: code.redirectUri,
            challenge: code.challenge,
            scopes: code.scopes,
            unlock: code.unlock,
            created_at: code.createdAt,
            expires_at: code.expiresAt
          })
        }`),

      addToken: (organizationId, connectionId, token) =>
        post(sql`insert into oauth_token ${
          sql.insert({
            organization_id: organizationId,
            connection_id: connectionId,
            ...token.digest,
            kind: token.kind,
            generation: token.generation,
            scopes: token.scopes,
            unlock: token.unlock,
            created_at: token.createdAt,
            expires_at: token.expiresAt
          })
        }`),

      redeem: (organizationId, { digest }, at) =>
        post(sql`
          update oauth_code set redeemed_at = ${at}, unlock = null
          where organization_id = ${organizationId} and digest = ${digest}`),

      use: Effect.fnUntraced(function*(organizationId, { digest }, at) {
        const mine = sql`organization_id = ${organizationId} and digest = ${digest}`
        yield* post(sql`delete from oauth_token where ${mine} and generation is not null`)
        yield* post(sql`update oauth_token set used_at = ${at}, unlock = null where ${mine}`)
      }),

      issuedAt: (organizationId, connectionId) =>
        sql<{ at: Date }>`
          select created_at as at from oauth_token
          where organization_id = ${organizationId} and connection_id = ${connectionId} and kind = 'access'
          order by created_at desc`.pipe(Effect.orDie, Effect.map((rows) => rows.map(({ at }) => at))),

      forgetExpired: (organizationId, connectionId, now) =>
        post(sql`
          delete from oauth_token
          where organization_id = ${organizationId} and connection_id = ${connectionId} and kind = 'access'
            and expires_at <= ${now}`),

      prolong: (organizationId, connectionId, generation, until) =>
        post(sql`
          update ai_connection set expires_at = ${until}, generation = ${generation}
          where organization_id = ${organizationId} and id = ${connectionId}`),

      disconnect: (organizationId, connectionId, at) => disconnect(sql, organizationId, connectionId, at)
    })
  })
)
