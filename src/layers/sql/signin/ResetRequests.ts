import { Effect, Exit, Layer, Redacted, Schema } from "effect"
import { SecureRandom } from "effect/crypto"
import { SqlClient } from "effect/sql"
import { freeResetRequests, resetRequestsWaiting } from "../../../domain/Limits.ts"
import { now } from "../../../domain/Moments.ts"
import type { OrganizationId } from "../../../domain/people/Access.ts"
import { ResetRequests } from "../../../ports/signin/ResetRequests.ts"
import { Vault } from "../../crypto/Vault.ts"
import * as Sql from "../../postgres/Rows.ts"
import * as Tenant from "../../postgres/Tenant.ts"
import { mayHavePassword } from "./PasswordResets.ts"

const RequestText = Schema.fromJsonString(Schema.Struct({
  organization: Schema.String,
  email: Schema.String,
  baseUrl: Schema.String,
  ip: Schema.NullOr(Schema.String),
  requestId: Schema.NullOr(Schema.String),
  browser: Schema.NullOr(Schema.String)
}))
const encode = Schema.encodeSync(RequestText)
const decode = Schema.decodeUnknownEffect(RequestText)

/** The context that a request is sealed for. */
const sealedFor = (id: string): ReadonlyArray<string> => ["password_reset_request", id]

const requestsPerRun = 50

interface Row {
  readonly id: string
  readonly request_sealed: string
}

interface AdminRow {
  readonly organizationId: OrganizationId
  readonly adminId: string
  readonly known: boolean
}

/** Requests in SQL, sealed. */
export const layer = Layer.effect(
  ResetRequests,
  Effect.gen(function*() {
    const sql = yield* SqlClient.SqlClient
    const random = yield* SecureRandom.SecureRandom
    const vault = yield* Vault

    const opened = Effect.fnUntraced(function*({ id, request_sealed }: Row) {
      const request = yield* Effect.exit(Effect.flatMap(
        vault.open(request_sealed, sealedFor(id)),
        (text) => decode(Redacted.value(text))
      ))
      return { id, request: Exit.isSuccess(request) ? request.value : null }
    })

    return ResetRequests.of({
      add: Effect.fnUntraced(function*(request, { address, network }) {
        const at = yield* now
        const id = yield* random.uuidV7()
        const sealed = vault.seal(Redacted.make(encode(request)), sealedFor(id))
        const queue = yield* Sql.one(
          Tenant.directory(sql)(sql<{ ofAddress: number; kept: boolean }>`
          with waiting as (
            select count(*) as of_all, count(*) filter (where address = ${address}) as of_address,
              count(*) filter (where network = ${network}) as of_network
            from password_reset_request
          ), most as (
            select network, count(*) as requests from password_reset_request
            group by network order by requests desc, network limit 1
          ), displaced as (
            delete from password_reset_request
            where id = (
                select id from password_reset_request join most using (network) order by created_at desc, id desc limit 1)
              and exists (
                select 1 from waiting, most
                where of_all >= ${resetRequestsWaiting} and of_address < ${freeResetRequests}
                  and requests > of_network + 1)
            returning id
          ), kept as (
            insert into password_reset_request (id, request_sealed, created_at, address, network)
            select ${id}::uuid, ${sealed}::text, ${at}::timestamptz, ${address}::text, ${network}::text
            from waiting
            where of_address < ${freeResetRequests}
              and (of_all < ${resetRequestsWaiting} or exists (select 1 from displaced))
            returning id
          )
          select of_address as "ofAddress", exists (select 1 from kept) as kept from waiting`)
        )
        return queue ?? { ofAddress: 0, kept: false }
      }),

      list: Effect.flatMap(
        Tenant.ask<Row>(
          sql,
          `select id, request_sealed from password_reset_request
          order by count(*) over (partition by network), created_at, id limit ${requestsPerRun}`,
          []
        ),
        Effect.forEach(opened)
      ),

      findAdmin: Effect.fnUntraced(function*({ browser, email, organization }) {
        // PostgreSQL has no text with a NUL in it, and so no admin of such a name.
        if (`${organization}${email}`.includes("\u0000")) return null
        const found = yield* Sql.one(
          Tenant.directory(sql)(sql<AdminRow>`
          select organization_id as "organizationId", id as "adminId", exists (
            select 1 from known_browser
            where known_browser.organization_id = admin.organization_id and admin_id = admin.id
              and digest = ${browser}) as known
          from admin
          where organization_id = ${organization} and lower(email collate "C") = ${email.toLowerCase()}
            and ${mayHavePassword(sql)}`)
        )
        if (found === null) return null
        const { known, ...admin } = found
        return { admin, known }
      }),

      remove: (id) => Effect.asVoid(Tenant.directory(sql)(sql`delete from password_reset_request where id = ${id}`))
    })
  })
)
