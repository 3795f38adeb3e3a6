/**
 * The roles that row level security rests on: the tables' owner, `console_app`, which works inside one
 * organization, and `console_service`, which the service works as outside them. Neither of the two owns anything.
 */
import { Effect, Schema } from "effect"
import { SqlClient } from "effect/sql"

/** The role that the sessions of the service take on. */
export const service = "console_service"

const quoted = (name: string) => `"${name.replaceAll("\"", "\"\"")}"`

/** A role is missing, or the login role is not its member; the message holds what an administrator runs. */
export class RolesMissing extends Schema.TaggedError<RolesMissing>()("RolesMissing", {
  role: Schema.String,
  statements: Schema.Array(Schema.String)
}) {
  override get message(): string {
    return [`The role ${this.role} lacks what the service works with. An administrator runs once:`, ...this.statements]
      .join("\n")
  }
}

/** The login role is above row level security, so that the wall would not hold for it. */
export class RoleBypassesRowSecurity
  extends Schema.TaggedError<RoleBypassesRowSecurity>()("RoleBypassesRowSecurity", { role: Schema.String })
{
  override get message(): string {
    return [
      `The role ${this.role} bypasses row level security. Connect as another one, which an administrator makes once:`,
      "create role console_app nologin;",
      "create role console_service nologin noinherit in role console_app;",
      "create role console_owner login password '...';",
      "create role console login password '...' in role console_service;",
      "create database console owner console_owner;"
    ].join("\n")
  }
}

/** True if the login role owns the tables or may act as their owner. */
export const ownsTables = (sql: SqlClient.SqlClient) =>
  sql`exists (select 1 from pg_class where oid in (to_regclass('organization'), to_regclass('journal_event'))
    and pg_has_role(session_user, relowner, 'member'))`

interface Facts {
  readonly role: string
  readonly above: boolean
  readonly app: boolean
  readonly service: boolean
  readonly joined: boolean
  readonly member: boolean
  readonly owner: boolean
}

const read = Effect.gen(function*() {
  const sql = yield* SqlClient.SqlClient
  const [facts] = yield* sql<Facts>`
    select session_user::text as role, rolsuper or rolbypassrls as above,
      to_regrole('console_app') is not null as app, to_regrole('console_service') is not null as service,
      coalesce(pg_has_role(to_regrole('console_service'), to_regrole('console_app'), 'member'), false) as joined,
      coalesce(pg_has_role(session_user, to_regrole('console_service'), 'member'), false) as member,
      ${ownsTables(sql)} as owner
    from pg_roles where rolname = session_user`
  return facts ?? (yield* Effect.die(new Error("The login role is not in pg_roles")))
})

/** The missing roles and, with `member`, the login role's missing membership, as statements. */
const lacking = (facts: Facts, member: boolean): ReadonlyArray<string> => [
  ...(facts.app ? [] : ["create role console_app nologin"]),
  ...(facts.service
    ? (facts.joined ? [] : ["grant console_app to console_service"])
    : ["create role console_service nologin noinherit in role console_app"]),
  ...(member && !facts.member ? [`grant console_service to ${quoted(facts.role)}`] : [])
]

const checkFacts = Effect.fnUntraced(function*(facts: Facts, member: boolean) {
  if (facts.above) return yield* new RoleBypassesRowSecurity({ role: facts.role })
  const statements = lacking(facts, member).map((statement) => `${statement};`)
  if (statements.length > 0) return yield* new RolesMissing({ role: facts.role, statements })
})

/** Fails unless the login role is bound by row level security and may become `console_service` and `console_app`. */
export const check = Effect.flatMap(read, (facts) => checkFacts(facts, true))

/**
 * Creates the roles where the migrating login role may, then checks; the membership too where the service has no other
 * login role than this.
 */
export const ensure = Effect.fnUntraced(function*({ alone }: { readonly alone: boolean }) {
  const sql = yield* SqlClient.SqlClient
  const facts = yield* read
  if (!facts.above) { for (const statement of lacking(facts, alone)) yield* Effect.ignore(sql.unsafe(statement)) }
  yield* checkFacts(yield* read, alone)
})

/**
 * The statements by which an administrator takes the tables away from the login role of the service, if it owns them.
 */
export const separation: Effect.Effect<
  { readonly role: string; readonly statements: ReadonlyArray<string> } | null,
  Effect.Error<typeof read>,
  SqlClient.SqlClient
> = Effect.map(read, ({ owner, role }) =>
  owner
    ? {
      role,
      statements: [
        "create role console_owner login password '...';",
        `reassign owned by ${quoted(role)} to console_owner;`,
        "alter policy search on account_search to console_owner;"
      ]
    }
    : null)
