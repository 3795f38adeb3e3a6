import { Effect } from "effect"
import { SqlClient } from "effect/sql"
import { departmentKey } from "../../../domain/people/Department.ts"

interface Row {
  readonly organization_id: string
  readonly id: string
  readonly name: string
}

/** The rows with keys that are unique in each organization: a name that is there already gets the next free number. */
const keyed = (rows: ReadonlyArray<Row>): ReadonlyArray<Row & { readonly name_key: string }> => {
  const keyOf = ({ name, organization_id }: Row) => JSON.stringify([organization_id, departmentKey(name)])
  const taken = new Set(rows.map(keyOf))
  const seen = new Set<string>()
  return rows.map((row) => {
    let named = row
    for (let number = 2; seen.has(keyOf(named)) || named !== row && taken.has(keyOf(named)); number++) {
      named = { ...row, name: `${row.name} (${number})` }
    }
    seen.add(keyOf(named))
    return { ...named, name_key: departmentKey(named.name) }
  })
}

/** Keeps invitations and removals of admins, and names departments once and counts their accounts. */
export default Effect.gen(function*() {
  const sql = yield* SqlClient.SqlClient

  // Whoever was removed is disabled too, so that nothing works in their name wherever only that is asked.
  yield* sql`
    alter table admin
      add column invitation_digest text collate "C" unique,
      add column invitation_pepper_id text,
      add column invitation_expires_at timestamptz(3),
      add column invited_by uuid,
      add column removed_at timestamptz(3),
      add check ((invitation_digest is null) = (invitation_pepper_id is null)),
      add check (invitation_digest is null or joined_at is null and invitation_expires_at is not null),
      add check (removed_at is null or disabled_at is not null and role <> 'owner' and invitation_digest is null)`
  yield* sql`drop index admin_email`
  yield* sql`
    create unique index admin_email on admin (organization_id, lower(email collate "C")) where removed_at is null`
  yield* sql`
    create index admin_listed on admin (organization_id, (role <> 'owner'), lower(email collate "C"), id)
    where removed_at is null`
  yield* sql`create index admin_department_department on admin_department (organization_id, department_id)`

  // How many invitations went out within a day is bounded; their addresses are kept as digests.
  yield* sql`
    create table invitation_sent (
      organization_id text collate "C" not null references organization (id) on delete cascade,
      id uuid not null,
      address text collate "C" not null,
      sent_at timestamptz(3) not null,
      primary key (organization_id, id)
    )`
  yield* sql`create index invitation_sent_at on invitation_sent (organization_id, sent_at)`
  yield* sql`alter table invitation_sent enable row level security`
  yield* sql`alter table invitation_sent force row level security`
  yield* sql`
    create policy tenant on invitation_sent to console_app
    using (organization_id = current_setting('console.organization_id', true))`
  yield* sql`grant select, insert, delete on invitation_sent to console_app`

  // The owner is let through the wall while keys and counts are written.
  yield* sql`alter table department no force row level security`
  yield* sql`alter table account no force row level security`
  yield* sql`
    alter table department
      add column name_key text collate "C",
      add column accounts integer not null default 0 check (accounts >= 0)`
  const departments = keyed(
    yield* sql<Row>`select organization_id, id, name from department order by organization_id, created_at, id`
  )
  yield* sql`
    update department set name = made.name, name_key = made.name_key
    from unnest(${departments.map((row) => row.organization_id)}::text[], ${departments.map((row) => row.id)}::uuid[],
      ${departments.map((row) => row.name)}::text[], ${departments.map((row) => row.name_key)}::text[])
      as made (organization_id, id, name, name_key)
    where department.organization_id = made.organization_id and department.id = made.id`
  yield* sql`
    update department set accounts = counted.accounts
    from (select organization_id, department_id, count(*) as accounts from account group by 1, 2) as counted
    where department.organization_id = counted.organization_id and department.id = counted.department_id`
  yield* sql`alter table department alter column name_key set not null, add unique (organization_id, name_key)`
  yield* sql`alter table department force row level security`
  yield* sql`alter table account force row level security`

  const counts = [["file_accounts", "insert", "new", "+"], ["unfile_accounts", "delete", "old", "-"]] as const
  for (const [name, event, rows, sign] of counts) {
    yield* sql`
      create function ${sql(name)}() returns trigger language plpgsql as $$
      begin
        update department set accounts = accounts ${sql.literal(sign)} changed.filed
        from (
          select organization_id, department_id, count(*) as filed from rows
          where department_id is not null group by organization_id, department_id
        ) as changed
        where department.organization_id = changed.organization_id and department.id = changed.department_id;
        return null;
      end $$`
    yield* sql`
      create trigger ${sql(name)} after ${sql.literal(event)} on account referencing ${sql.literal(rows)} table as rows
      for each statement execute function ${sql(name)}()`
  }
  // Whoever moves an account has locked both departments in the order of their ids.
  yield* sql`
    create function refile_account() returns trigger language plpgsql as $$
    begin
      update department set accounts = accounts + case when id = new.department_id then 1 else -1 end
      where organization_id = new.organization_id and id in (old.department_id, new.department_id);
      return null;
    end $$`
  yield* sql`
    create trigger refile_account after update of department_id on account for each row
    when (old.department_id is distinct from new.department_id) execute function refile_account()`
})
