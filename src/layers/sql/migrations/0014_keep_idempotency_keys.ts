import { Effect } from "effect"
import { SqlClient } from "effect/sql"

/** The keys by which requests are repeated without effect, and the answers that they had. */
export default Effect.gen(function*() {
  const sql = yield* SqlClient.SqlClient
  // The token names the request that holds the key; its answer is null until the change has committed.
  yield* sql`
    create table idempotency_key (
      organization_id text collate "C" not null,
      credential_id text collate "C" not null,
      operation text collate "C" not null,
      digest text collate "C" not null,
      token uuid not null,
      body_hmac text collate "C" not null,
      pepper_id text collate "C" not null,
      claimed_at timestamptz(3) not null,
      answer_sealed text,
      primary key (organization_id, credential_id, operation, digest),
      foreign key (organization_id) references organization (id) on delete cascade
    )`
  yield* sql`create index idempotency_key_claimed on idempotency_key (claimed_at)`
  yield* sql`alter table idempotency_key enable row level security`
  yield* sql`alter table idempotency_key force row level security`
  yield* sql`
    create policy tenant on idempotency_key to console_app
    using (organization_id = current_setting('console.organization_id', true))`
  yield* sql`grant select, insert, update, delete on idempotency_key to console_app`
  yield* sql`create policy directory on idempotency_key to console_service using (true)`
  yield* sql`grant select, delete on idempotency_key to console_service`
})
