import { Effect, Schema } from "effect"
import { SqlClient } from "effect/sql"
import { type Searched, searchText } from "../../../domain/accounts/AccountSearch.ts"

/** The extension is missing, and the connected role may not create it; the message holds what an administrator runs. */
class ExtensionMissing extends Schema.TaggedError<ExtensionMissing>()("ExtensionMissing", {}) {
  override get message(): string {
    return "The extension pg_trgm is missing, and the database's owner may not create it here. An administrator runs " +
      "once, in this database:\ncreate extension pg_trgm;"
  }
}

const batch = 5000

/** Keeps what an account is found by, and an index of its trigrams. */
export default Effect.gen(function*() {
  const sql = yield* SqlClient.SqlClient

  const [found] = yield* sql`select 1 from pg_extension where extname = 'pg_trgm'`
  if (found === undefined) {
    yield* Effect.mapError(sql`create extension pg_trgm`.pipe(sql.withTransaction), () => new ExtensionMissing())
  }

  yield* sql`alter table account add column search_text text collate "C" not null default ''`
  // The owner is let through the wall while the texts are written.
  yield* sql`alter table account no force row level security`
  let after: { readonly organization_id: string; readonly id: string } | undefined
  do {
    const rows = yield* sql<Searched & { readonly organization_id: string; readonly id: string }>`
      select organization_id, id, phone_number, first_name, last_name, username, role_label from account
      where ${
      after === undefined ? sql`true` : sql`(organization_id, id) > (${after.organization_id}, ${after.id}::uuid)`
    }
      order by organization_id, id limit ${batch}`
    yield* sql`
      update account set search_text = made.search_text
      from unnest(${rows.map((row) => row.organization_id)}::text[], ${rows.map((row) => row.id)}::uuid[],
        ${rows.map(searchText)}::text[]) as made (organization_id, id, search_text)
      where account.organization_id = made.organization_id and account.id = made.id`
    after = rows.length < batch ? undefined : rows.at(-1)
  } while (after !== undefined)
  yield* sql`alter table account force row level security`
  yield* sql`create index account_search_text on account using gin (search_text gin_trgm_ops)`

  // Behind the wall no index serves LIKE, which is not leakproof: this function looks for it as the owner, within the
  // organization of the transaction and what the caller reaches, and answers ids alone. Bitmaps alone are left to the
  // planner, which would hope to fill a limit of unknown size by reading the table.
  yield* sql`create policy search on account for select to current_user using (true)`
  yield* sql`
    create function matching_accounts(pattern text, everything boolean, departments uuid[], accounts uuid[], most integer)
    returns setof uuid language sql stable security definer set search_path = public, pg_temp
    set enable_seqscan = off set enable_indexscan = off set enable_indexonlyscan = off as $$
      select account.id from account
      where account.organization_id = current_setting('console.organization_id') and account.search_text like pattern
        and (everything or account.department_id = any(departments) or account.id = any(accounts))
      limit most
    $$`
  yield* sql`
    revoke all on function matching_accounts(text, boolean, uuid[], uuid[], integer) from public`
  yield* sql`
    grant execute on function matching_accounts(text, boolean, uuid[], uuid[], integer) to console_app`
})
