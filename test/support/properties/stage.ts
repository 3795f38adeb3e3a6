/**
 * What the sequences of the properties play on: organizations with everything in them, and a credential of every kind.
 */
import { Effect } from "effect"
import { TestClock } from "effect/testing"
import { Role } from "../../../src/domain/people/Access.ts"
import {
  approve,
  challengeOf,
  makeVerifier,
  redeemWith,
  registerApplication,
  setPassword,
  signIn,
  tokens
} from "../../oauth/support.ts"
import * as Populated from "../populated.ts"
import * as World from "../world.ts"
import * as Logins from "./logins.ts"
import { everythingOf, type Overseer, save } from "./rewind.ts"

/** How a request comes in. */
export type Via = "rest" | "mcp"

/** What a credential is: a key, or an application's token that reaches some accounts or departments. */
export type Kind = "key" | "accounts" | "departments"

export const vias: ReadonlyArray<Via> = ["rest", "mcp"]
export const kinds: ReadonlyArray<Kind> = ["key", "accounts", "departments"]

/** A credential of an admin, as it is sent and as it is stored. */
export interface Credential {
  readonly id: string
  readonly secret: NonNullable<World.Asking["key"]>
}

export interface Member extends Populated.Populated {
  readonly credentials: Readonly<Record<Role, (kind: Kind, via: Via) => Credential>>
  /** Texts that are this organization's alone. */
  readonly marks: ReadonlyArray<string>
  /** The numbers of its people whom nobody has connected. */
  readonly phones: ReadonlyArray<string>
}

export interface Stage {
  readonly members: ReadonlyArray<Member>
  /** Every id and secret that was there at the beginning. */
  readonly known: ReadonlySet<string>
  readonly startsAt: number
  readonly overseer: Overseer
  readonly everything: string
}

/** What looks like an id, of the service, of the messenger or of a passkey, a secret, a digest or a hash. */
export const opaque =
  /osc_[a-z]+_[0-9A-Za-z]+|req_[0-9a-z]{26}|[0-9a-f]{64}|[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}|\b\d{15,19}\b|(?<![\w-])[\w-]{43}(?![\w-])/g

const allScopes = "archive:read org:read accounts:write security:write admins:write archive:delete"

const connect = Effect.fnUntraced(function*(
  organization: Populated.Populated,
  adminId: string,
  resource: string,
  scopeType: "accounts" | "departments",
  ids: ReadonlyArray<string>
) {
  const admin = yield* signIn(organization.id, adminId)
  const application = yield* registerApplication()
  const verifier = makeVerifier()
  const { code } = yield* approve(application, admin, challengeOf(verifier), {
    params: { scope: allScopes, resource },
    scopeType,
    ids
  })
  const { access_token } = tokens(yield* redeemWith({ application, code, verifier }))
  const [newest] = yield* World.query<{ id: string }>(
    organization.id,
    (sql) =>
      sql`select id from ai_connection where organization_id = ${organization.id} and client_id = ${application.client_id}`
  )
  return { id: newest?.id ?? "", secret: access_token } satisfies Credential
})

const makeMember = Effect.fnUntraced(function*() {
  const organization = yield* Populated.make()
  const [first, , third] = organization.ids.account
  const made = new Map<string, Credential>()
  for (const role of Role.literals) {
    const { id, key, keyId } = organization.admins[role]
    yield* setPassword(organization.id, id)
    yield* TestClock.adjust("1 hour")
    for (const via of vias) {
      const resource = `${World.baseUrl}/${via === "rest" ? "v1" : "mcp"}`
      made.set(`${role} key ${via}`, { id: keyId, secret: key })
      made.set(
        `${role} accounts ${via}`,
        yield* connect(organization, id, resource, "accounts", [first ?? "", third ?? ""])
      )
      made.set(
        `${role} departments ${via}`,
        yield* connect(organization, id, resource, "departments", organization.ids.department.slice(0, 1))
      )
    }
  }
  const { logins, phones } = yield* Logins.begin(organization)
  const of = (role: Role) => (kind: Kind, via: Via) => made.get(`${role} ${kind} ${via}`) ?? { id: "", secret: "" }
  const text = JSON.stringify(yield* World.snapshot(organization.id))
  const marks = text.match(/[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}|[\w.-]+@example\.com|\+1\d{9,}/g) ?? []
  return {
    ...organization,
    ids: { ...organization.ids, login: [...organization.ids.login, ...logins] },
    phones,
    credentials: {
      owner: of("owner"),
      superadmin: of("superadmin"),
      admin: of("admin"),
      billing: of("billing"),
      archive: of("archive")
    },
    marks: [...new Set([organization.id, ...marks])],
    text
  }
})

/** Makes so many organizations, and keeps everything as the beginning of each sequence. */
export const make = Effect.fnUntraced(function*(overseer: Overseer, organizations: number) {
  yield* TestClock.setTime(Date.UTC(2026, 0, 5))
  const members = yield* Effect.forEach(Array.from({ length: organizations }), () => makeMember())
  // The tokens live an hour, and the sequences begin within it.
  const startsAt = Date.UTC(2026, 0, 6)
  yield* Effect.promise(() =>
    overseer.query(`update oauth_token set expires_at = '2026-01-06T01:00:00Z' where kind = 'access';
      update ai_connection set expires_at = '2026-04-06T00:00:00Z' where client_id is not null;
      delete from rate_limit`)
  )
  yield* Effect.promise(() => Logins.keepOpen(overseer))
  yield* Effect.promise(() => save(overseer))
  return {
    members,
    known: new Set(members.flatMap(({ text }) => text.match(opaque) ?? [])),
    startsAt,
    overseer,
    everything: yield* Effect.promise(() => everythingOf(overseer))
  } satisfies Stage
})
