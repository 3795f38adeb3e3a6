/** Many admins in an organization that `fillDatabase` has filled, each with what years leave behind. */
import type { Client } from "pg"
import { idOf } from "./fill.ts"

export const crowded = 1000

/** How many keys and connections each has had; two of each have not ended. */
const had = 20

const statements = (id: string) => [
  `insert into admin (organization_id, id, email, role, created_at, joined_at, disabled_at)
  select '${id}', ${idOf("admin", id, "n")}, 'person' || n || '@${id}.example',
    (array['admin', 'archive', 'billing', 'superadmin'])[1 + n % 4], now(), case when n % 50 <> 0 then now() end,
    case when n % 40 = 0 then now() end
  from generate_series(1, ${crowded}) n`,
  `insert into api_key (organization_id, id, admin_id, label, digest, pepper_id, scopes, created_at, expires_at,
    last_used_at, revoked_at)
  select '${id}', gen_random_uuid(), ${idOf("admin", id, "n")}, 'Key', 'key/' || n || '/' || k, 'p', '{}', now(),
    case when k % 2 = 0 then now() - interval '1 hour' end, now() - interval '1 hour' * k,
    case when k % 2 = 1 and k > 3 then now() end
  from generate_series(1, ${crowded}) n, generate_series(1, ${had}) k`,
  `insert into ai_connection (organization_id, id, admin_id, kind, label, client_name, client_host, mode, scopes,
    scope_type, resource, created_at, last_used_at, revoked_at)
  select '${id}', gen_random_uuid(), ${idOf("admin", id, "n")}, 'oauth', 'App', 'App', 'app.example', 'cloud', '{}',
    'accounts', 'https://console.test/v1', now(), now() - interval '1 hour' * k, case when k > 2 then now() end
  from generate_series(1, ${crowded}) n, generate_series(1, ${had}) k`,
  `insert into console_session (organization_id, id, admin_id, digest, created_at, last_used_at)
  select '${id}', gen_random_uuid(), ${idOf("admin", id, "n")}, 'session/' || n || '/' || k, now(), now()
  from generate_series(1, ${crowded}) n, generate_series(1, 2) k`,
  `insert into admin_account (organization_id, admin_id, account_id)
  select '${id}', ${idOf("admin", id, "n")}, ${idOf("account", id, "n * 7 + k")}
  from generate_series(1, ${crowded}) n, generate_series(1, 2) k`,
  `insert into admin_department (organization_id, admin_id, department_id)
  select '${id}', ${idOf("admin", id, "n")}, ${idOf("department", id, "(n + k) % 40")}
  from generate_series(1, ${crowded}) n, generate_series(1, 2) k`
]

/** Adds the admins, as a superuser past triggers and the wall. */
export const fillCrowd = async (client: Client, id: string): Promise<void> => {
  await client.query("set session_replication_role = replica")
  for (const statement of statements(id)) await client.query(statement)
  await client.query("set session_replication_role = origin")
  await client.query("analyze admin, api_key, ai_connection, console_session, admin_account, admin_department")
}
