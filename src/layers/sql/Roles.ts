/** The roles that the wall of row level security stands on: the tables' owner, and `console_app`, which owns nothing. */
import { Effect, Schema } from "effect"
import { SqlClient } from "effect/sql"

const quoted = (name: string) => `"${name.replaceAll("\"", "\"\"")}"`

/** `console_app` is missing, or the connected role is not its member; the message holds what an administrator runs. */
export class RolesMissing extends Schema.TaggedError<RolesMissing>()("RolesMissing", {
  role: Schema.String,
  exists: Schema.Boolean
}) {
  override get message(): string {
    return [
      this.exists
        ? `The role ${this.role} is not a member of console_app. An administrator of the database runs once:`
        : `The role console_app is missing, and ${this.role} may not create it. An administrator runs once:`,
      ...(this.exists ? [] : ["create role console_app nologin;"]),
      `grant console_app to ${quoted(this.role)};`
    ].join("\n")
  }
}

/** The connected role is above row level security, so that the wall would not hold for it. */
export class RoleBypassesRowSecurity
  extends Schema.TaggedError<RoleBypassesRowSecurity>()("RoleBypassesRowSecurity", { role: Schema.String })
{
  override get message(): string {
    return [
      `The role ${this.role} bypasses row level security. Connect as another one, which an administrator makes once:`,
      "create role console_app nologin;",
      "create role console login password '...' in role console_app;",
      "create database console owner console;"
    ].join("\n")
  }
}

interface Facts {
  readonly role: string
  readonly above: boolean
  readonly exists: boolean
  readonly member: boolean
}

const read = Effect.gen(function*() {
  const sql = yield* SqlClient.SqlClient
  const [facts] = yield* sql<Facts>`
    select current_user::text as role, rolsuper or rolbypassrls as above,
      to_regrole('console_app') is not null as exists,
      coalesce(pg_has_role(current_user, to_regrole('console_app'), 'member'), false) as member
    from pg_roles where rolname = current_user`
  return facts ?? (yield* Effect.die(new Error("The connected role is not in pg_roles")))
})

/** Fails unless the connected role is bound by row level security and may become `console_app`. */
export const check = Effect.gen(function*() {
  const facts = yield* read
  if (facts.above) return yield* new RoleBypassesRowSecurity({ role: facts.role })
  if (!facts.member) return yield* new RolesMissing({ role: facts.role, exists: facts.exists })
})

/** Creates `console_app` and the membership where the connected role may, then checks. */
export const ensure = Effect.gen(function*() {
  const sql = yield* SqlClient.SqlClient
  const facts = yield* read
  if (!facts.above && !facts.exists) yield* Effect.ignore(sql`create role console_app nologin`)
  if (!facts.above && !facts.member) yield* Effect.ignore(sql`grant console_app to current_user`)
  yield* check
})
