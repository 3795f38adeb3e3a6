/** The caller of a bearer token: found by its digest, joined to admin and organization at every request. */
import { Clock, Duration, Effect, Layer, type Redacted } from "effect"
import { SqlClient } from "effect/sql"
import { InvalidApiKey, InvalidToken, type ServiceUnavailable } from "../../../domain/Failure.ts"
import { rightCredentialsRemembered } from "../../../domain/NetworkAddress.ts"
import {
  type AccessLimit,
  type Arrival,
  type Caller,
  type OrganizationId,
  readsArchive,
  type Scope,
  type StoredUnlock
} from "../../../domain/people/Access.ts"
import { Entrance } from "../../../ports/credentials/Authentication.ts"
import { OAuthSecrets } from "../../../ports/oauth/OAuthPorts.ts"
import { ApiKeys } from "../../crypto/credentials/ApiKeys.ts"
import { fingerprint } from "../../crypto/Peppers.ts"
import { LruCache } from "../../LruCache.ts"
import * as Tenant from "../../postgres/Tenant.ts"
import { state } from "../../RateWindow.ts"
import * as Statements from "./BearerStatements.ts"
import * as EntranceBatches from "./EntranceBatches.ts"
import { LastUses } from "./LastUses.ts"

type BearerCaller = Omit<Caller["Service"], "via" | "ip" | "requestId">

export const caller = (
  row: Statements.AdminRow,
  scopes: ReadonlyArray<Scope>,
  limit: AccessLimit | null,
  credential: Caller["Service"]["credential"],
  arrival?: Arrival,
  storedUnlock?: StoredUnlock
): BearerCaller => ({
  organizationId: row.organization_id,
  organizationClosed: row.closed,
  adminId: row.admin_id,
  adminName: row.admin_name,
  role: row.role,
  readsArchive: readsArchive(row.role, row.archive_access),
  scopes,
  limit,
  credential,
  arrival,
  storedUnlock
})

/** The age of `last_used_at` from which a request writes it again. */
const lastUsedGrain = Duration.toMillis(Duration.minutes(1))

/** A token that was presented, and where. */
interface PresentedToken {
  readonly kind: Statements.TokenKind
  readonly token: Redacted.Redacted
  /** Under each pepper. */
  readonly digests: ReadonlyArray<string>
  /** The one organization whose credentials count; empty for any. */
  readonly only: string
  readonly resource: string
}

type Found = Effect.Effect<BearerCaller, InvalidApiKey | InvalidToken | ServiceUnavailable>

/** The text of a statement for each kind of token and number of digests, made once. */
const remembered = (text: (kind: Statements.TokenKind, digests: number) => string) => {
  const known = { key: new Array<string | undefined>(), token: new Array<string | undefined>() }
  return (kind: Statements.TokenKind, digests: number): string => known[kind][digests] ??= text(kind, digests)
}

/** The callers of tokens. */
export const make = Effect.gen(function*() {
  const sql = yield* SqlClient.SqlClient
  const keys = yield* ApiKeys
  const secrets = yield* OAuthSecrets
  const uses = yield* LastUses
  const lookup = remembered(Statements.lookup)
  const countedLookup = remembered(Statements.countedLookup)

  /** Digests by what names their token: to make one takes several times as long. */
  const digests = new LruCache<ReadonlyArray<string>>(rightCredentialsRemembered)

  const isWellFormed = (token: Redacted.Redacted) => secrets.isWellFormed("access", token) || keys.isWellFormed(token)

  /** Looks for a token that has the form of one. */
  const present = (
    token: Redacted.Redacted,
    resource: string,
    only: OrganizationId | null,
    find: (sought: PresentedToken) => Found
  ) => {
    const isToken = secrets.isWellFormed("access", token)
    return isToken || keys.isWellFormed(token)
      ? find({
        kind: isToken ? "token" : "key",
        digests: digests.get(fingerprint(token), () => isToken ? secrets.digests(token) : keys.digests(token)),
        only: only ?? "",
        resource,
        token
      })
      : Effect.fail(new InvalidApiKey({}))
  }

  const times = (millis: number) => [new Date(millis), new Date(millis - lastUsedGrain)] as const

  const found = (
    { kind, token }: PresentedToken,
    row: Statements.BearerRow | undefined,
    at: number,
    arrival?: Arrival
  ): Found => {
    if (row === undefined) return Effect.fail(kind === "token" ? new InvalidToken({}) : new InvalidApiKey({}))
    const { credential_id: id, label, local, organization_id: organizationId, reach, scopes, stale, unlock } = row
    if (stale) uses.note(kind === "token" ? "ai_connection" : "api_key", { organizationId, id, at: new Date(at) })
    return Effect.succeed(caller(
      row,
      scopes,
      reach === null ? null : { scopeType: reach, connectionId: id, ...(local ? { local } : {}) },
      { kind: kind === "token" ? "oauth" : "api_key", id, label },
      arrival,
      unlock === null ? undefined : { sealed: Uint8Array.from(unlock), token }
    ))
  }

  const valuesOf = ({ digests, kind, only, resource }: PresentedToken): ReadonlyArray<unknown> =>
    kind === "token" ? [only, ...digests, resource] : [only, ...digests]

  const identify = (sought: PresentedToken): Found =>
    Effect.flatMap(Clock.currentTimeMillis, (at) =>
      Effect.flatMap(
        Tenant.ask<Statements.BearerRow>(sql, lookup(sought.kind, sought.digests.length), [
          ...times(at),
          ...valuesOf(sought)
        ]),
        ([row]) => found(sought, row, at)
      ))

  const arrivalOf = (row: Statements.CountedRow, at: number): Arrival => ({
    admitted: state(row.admitted, row.used, row.oldest, at),
    organization: row
  })

  const enterAlone = (sought: PresentedToken): Found =>
    Effect.flatMap(Clock.currentTimeMillis, (at) =>
      Effect.flatMap(
        Tenant.ask<Statements.CountedRow>(sql, countedLookup(sought.kind, sought.digests.length), [
          ...times(at),
          ...valuesOf(sought),
          at
        ]),
        ([row]) => found(sought, row, at, row === undefined ? undefined : arrivalOf(row, at))
      ))

  const arrayOf = (all: ReadonlyArray<PresentedToken>, value: (sought: PresentedToken, place: number) => unknown) =>
    all.flatMap((sought, place) => sought.digests.map(() => value(sought, place)))

  /** Those of one kind. */
  const enterTogether = (kind: Statements.TokenKind) => {
    const text = Statements.countedLookups(kind)
    return EntranceBatches.make({
      key: ({ digests }: PresentedToken) => digests[0] ?? "",
      alone: enterAlone,
      together: (all) =>
        Effect.flatMap(Clock.currentTimeMillis, (at) =>
          Effect.map(
            Tenant.askForMany<Statements.BatchRow>(sql, text, [
              ...times(at),
              at,
              arrayOf(all, (_, place) => place),
              all.flatMap(({ digests }) => digests),
              arrayOf(all, ({ only }) => only),
              ...(kind === "token" ? [arrayOf(all, ({ resource }) => resource)] : [])
            ]),
            (rows) => {
              const answers = new Map(rows.map((row) => [row.place, row]))
              return all.map((sought, place) => {
                const row = answers.get(place)
                if (row === undefined) return found(sought, undefined, at)
                return row.key === null ? undefined : found(sought, row, at, arrivalOf(row, at))
              })
            }
          ))
    })
  }
  const together = { key: enterTogether("key"), token: enterTogether("token") } as const

  const enter = (sought: PresentedToken): Found =>
    Effect.withFiber((fiber) => Tenant.asksForMany(sql, fiber) ? together[sought.kind](sought) : enterAlone(sought))

  return {
    isWellFormed,
    /** The caller of the token. */
    authenticate: (token: Redacted.Redacted, resource: string) => present(token, resource, null, identify),
    /** The same lookup, and the request counted. */
    enter: (token: Redacted.Redacted, resource: string, only: OrganizationId | null) =>
      present(token, resource, only, enter)
  }
})

/** One statement that reads the caller, the rest of its budget, and its organization's facts. */
export const layer = Layer.effect(Entrance, Effect.map(make, ({ enter }) => Entrance.of({ enter })))
