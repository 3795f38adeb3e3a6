import type { Mutant } from "../list.ts"

export const database: ReadonlyArray<Mutant> = [
  {
    file: "src/layers/sql/RateLimiter.ts",
    line: "cardinality(live) < ${most}",
    becomes: "cardinality(live) <= ${most}",
    why: "one request more than the limit",
    tests: ["test/spec/08_limits.test.ts"]
  },
  {
    file: "src/layers/sql/RateLimiter.ts",
    line: "from (select log.hits[width_bucket(${at} - ${windowMillis}, log.hits) + 1 :] as live) as log",
    becomes: "from (select log.hits[width_bucket(${at} - ${windowMillis / 2}, log.hits) + 1 :] as live) as log",
    why: "the window is half a minute",
    tests: ["test/layers/rateLimiter.test.ts"]
  },
  {
    file: "src/layers/sql/Bearers.ts",
    line: "const rows = `select credential_id::text, array[${at}], true from me`",
    becomes: "const rows = `select credential_id::text || pg_backend_pid(), array[${at}], true from me`",
    why: "each connection to the database counts a credential's requests by itself",
    tests: ["test/properties/budget.test.ts"]
  },
  {
    file: "src/layers/sql/Bearers.ts",
    line: "and revoked_at is null and (expires_at is null or expires_at > $1)",
    becomes: "and (expires_at is null or expires_at > $1)",
    why: "a revoked key works",
    tests: ["test/spec/05_1_api_keys.test.ts"]
  },
  {
    file: "src/layers/sql/Bearers.ts",
    line: "and disabled_at is null and (password_changed_at is null or password_changed_at <= api_key.created_at)`",
    becomes: "and (password_changed_at is null or password_changed_at <= api_key.created_at)`",
    why: "a disabled admin's key works",
    tests: ["test/spec/05_1_api_keys.test.ts"]
  },
  {
    file: "src/layers/sql/Bearers.ts",
    line:
      "and oauth_token.expires_at > $1 and ai_connection.resource = $${digestsFrom + digests} and revoked_at is null",
    becomes: "and oauth_token.expires_at > $1 and $${digestsFrom + digests}::text is not null and revoked_at is null",
    why: "a token works at the other resource",
    tests: ["test/oauth/resources.test.ts"]
  },
  {
    file: "src/layers/sql/Bearers.ts",
    line: "array(select unnest(oauth_token.scopes) intersect select unnest(ai_connection.scopes)) as scopes,",
    becomes: "oauth_token.scopes as scopes,",
    why: "a scope that was taken from a connection stays in its tokens",
    tests: ["test/oauth/revocation.test.ts"]
  },
  {
    file: "src/layers/sql/AccountAccess.ts",
    line: "and granted.account_id = account.id)",
    becomes: ")",
    why: "whoever was granted one account reaches all",
    tests: ["test/properties/missing.test.ts"]
  },
  {
    file: "src/layers/sql/AccountAccess.ts",
    line:
      "isNarrowing(caller.limit) ? sql`(${ofAdmin(sql, caller)} and ${chosen(sql, caller.limit)})` : ofAdmin(sql, caller)",
    becomes: "isNarrowing(caller.limit) ? chosen(sql, caller.limit) : ofAdmin(sql, caller)",
    why: "an application reaches what its admin no longer does",
    tests: ["test/oauth/reach.test.ts"]
  },
  {
    file: "src/layers/sql/AccountAccess.ts",
    line: "and granted.department_id = department.id)`,",
    becomes: ")`,",
    why: "an admin of one department grants applications every department",
    tests: ["test/oauth/granting.test.ts"]
  },
  {
    file: "src/layers/sql/Accounts.ts",
    line: "where organization_id = ${caller.organizationId} and account.id = ${id} and ${canAccess(sql, caller)}",
    becomes: "where account.id = ${id} and ${canAccess(sql, caller)}",
    why: "one wall of two is gone",
    tests: ["test/properties/isolation.test.ts"]
  },
  {
    file: "src/layers/sql/Journal.ts",
    line: "? sql`(${visibleToRole(sql, caller)} and (account_id is null or ${aboutAccessible(sql, caller)}))`",
    becomes: "? visibleToRole(sql, caller)",
    why: "an application sees the journal of accounts that it does not reach",
    tests: ["test/oauth/reach.test.ts"]
  },
  {
    file: "src/layers/sql/Guard.ts",
    line: "if (Option.isNone(held)) yield* Metric.update(waits, 1)",
    becomes: "",
    why: "nobody sees that requests wait for each other",
    tests: ["test/properties/messenger.test.ts"]
  },
  {
    file: "src/layers/sql/MailQueue.ts",
    line: "if (givenUp > 0) yield* Metric.update(failed, givenUp)",
    becomes: "",
    why: "mails are given up, and no alarm says so",
    tests: ["test/layers/mail.test.ts"]
  },
  {
    file: "src/layers/sql/LicenceStops.ts",
    line: "const running = \"offboarded_at is null and (licence_stopped_at is null or stopped_at is null)\"",
    becomes: "const running = \"offboarded_at is null and licence_stopped_at is null\"",
    why: "a pause and a resume bring protection back without a licence",
    tests: ["test/engine/timed.test.ts"]
  },
  {
    file: "src/layers/sql/migrations/0015_append_events.ts",
    line: "where organization_id = p_organization_id for no key update;",
    becomes: "where organization_id = p_organization_id;",
    why: "two entries at once take the same place",
    tests: ["test/properties/races.test.ts"]
  },
  {
    file: "src/layers/sql/migrations/0015_append_events.ts",
    line: "v_at := greatest(v_at, p_now);",
    becomes: "v_at := p_now;",
    why: "times in the journal go back",
    tests: ["test/properties/journal.test.ts", "test/properties/appending.test.ts"]
  },
  {
    file: "src/layers/sql/Journal.ts",
    line: "select ${yield* appending(organizationId, entry)} from open`",
    becomes: "select ${yield* appending(organizationId, entry)}`",
    why: "an intent is closed twice",
    tests: ["test/properties/durability.test.ts"]
  },
  {
    file: "src/layers/sql/Tenant.ts",
    line:
      "const tenant = \"select set_config('role', 'console_app', true), set_config('console.organization_id', $1, true)\"",
    becomes:
      "const tenant = \"select set_config('role', current_user, true), set_config('console.organization_id', $1, true)\"",
    why: "statements run as the tables' owner, where the wall has doors",
    tests: ["test/layers/sql/Tenant.test.ts"]
  },
  {
    file: "src/layers/sql/Roles.ts",
    line: "if (facts.above) return yield* new RoleBypassesRowSecurity({ role: facts.role })",
    becomes: "",
    why: "the service runs as a superuser, for whom there is no wall",
    tests: ["test/layers/sql/Roles.test.ts"]
  },
  {
    file: "src/layers/sql/ConsolePasswords.ts",
    line: "yield* takeBack(sql, others)",
    becomes: "",
    why: "people who sign in from one address make each other wait",
    tests: ["test/pages/throttle.test.ts"]
  },
  {
    file: "src/layers/sql/ConsolePasswords.ts",
    line: "...(admin?.known_address === true ? [] : [strangers])",
    becomes: "strangers",
    why: "strangers keep an admin out who comes from where they always come from",
    tests: ["test/pages/throttle.test.ts"]
  },
  {
    file: "src/layers/sql/Notices.ts",
    line: "and credential_id is distinct from ${sessionId}",
    becomes: "and credential_id is null",
    why: "a key that was made by a stolen key is told to nobody",
    tests: ["test/pages/security.test.ts"]
  },
  {
    file: "src/layers/sql/IssuedCredentials.ts",
    line: "const expires = parent === null ? expiresAt : earlier(expiresAt, parent.expires_at)",
    becomes: "const expires = expiresAt",
    why: "a key outlives the key that made it",
    tests: ["test/spec/05_1_credential_endings.test.ts"]
  },
  {
    file: "src/layers/sql/IssuedCredentials.ts",
    line: "yield* lockFamily(sql, organizationId, credential.id, \"share\")",
    becomes: "",
    why: "a key is made by one that is being revoked, and stays",
    tests: ["test/spec/05_1_credential_endings.test.ts"]
  },
  {
    file: "src/layers/sql/ConsoleSessions.ts",
    line: "and disabled_at is null and (password_changed_at is null or password_changed_at <= session.created_at)`",
    becomes: "and disabled_at is null`",
    why: "a stolen session outlives the changed password",
    tests: ["test/pages/signIn.test.ts"]
  },
  {
    file: "src/layers/sql/ConsoleSessions.ts",
    line: "\"HttpOnly\",",
    becomes: "",
    why: "scripts read the session's cookie",
    tests: ["test/pages/signIn.test.ts"]
  },
  {
    file: "src/layers/sql/ConsoleSessions.ts",
    line: "if (before.session !== undefined) {",
    becomes: "if (before.session === \"\") {",
    why: "the session before a sign-in goes on",
    tests: ["test/pages/signIn.test.ts"]
  },
  {
    file: "src/layers/sql/ConsolePasswords.ts",
    line: "...(group === null ? [] : [{ key: named(\"address\", group), free: freeAddressFailures }]),",
    becomes: "",
    why: "one address tries one password for everybody",
    tests: ["test/pages/throttle.test.ts"]
  },
  {
    file: "src/layers/sql/PasswordThrottle.ts",
    line: "if (!row.admitted) {",
    becomes: "if (!row.admitted && free > 1000) {",
    why: "passwords are tried without a wait",
    tests: ["test/pages/throttle.test.ts"]
  },
  {
    file: "src/layers/sql/OAuthGrants.ts",
    line: "where organization_id = ${organizationId} and id = ${adminId} and disabled_at is null",
    becomes: "where organization_id = ${organizationId} and id = ${adminId}",
    why: "an admin who was disabled in the meantime connects an application",
    tests: ["test/oauth/granting.test.ts"]
  },
  {
    file: "src/layers/sql/PendingChanges.ts",
    line: "details: { ...intent.details, error: \"unknown\", certain: false },",
    becomes: "details: { ...intent.details, error: \"unknown\", certain: true },",
    why: "the journal says of an interrupted change that it did not happen",
    tests: ["test/properties/durability.test.ts"]
  },
  {
    file: "src/layers/sql/Migrate.ts",
    line: "if (current.applied < current.known) return yield* new SchemaOlder(current)",
    becomes: "",
    why: "the service starts on a schema that it does not know",
    tests: ["test/layers/sql/Migrate.test.ts"]
  },
  {
    file: "src/layers/sql/migrations/0001_create_console.ts",
    line: "yield* sql`alter table ${sql(table)} force row level security`",
    becomes: "",
    why: "the tables' owner walks through the wall",
    tests: ["test/layers/sql/Schema.test.ts"]
  },
  {
    file: "src/layers/sql/migrations/0001_create_console.ts",
    line: "using (${sql(column)} = current_setting('console.organization_id', true))`",
    becomes: "using (current_setting('console.organization_id', true) <> '')`",
    why: "the wall has no organization in it",
    tests: ["test/layers/sql/Schema.test.ts"]
  },
  {
    file: "src/layers/sql/migrations/0001_create_console.ts",
    line: "[\"journal_event\", \"organization_id\", \"select, insert\"],",
    becomes: "[\"journal_event\", \"organization_id\", \"select, insert, update\"],",
    why: "the journal can be changed",
    tests: ["test/layers/sql/Schema.test.ts"]
  },
  {
    file: "src/layers/sql/migrations/0003_create_oauth.ts",
    line: "yield* sql`alter table ${sql(table)} enable row level security`",
    becomes: "",
    why: "tokens and codes stand outside the wall",
    tests: ["test/layers/sql/Schema.test.ts"]
  },
  {
    file: "src/layers/sql/AccountStatuses.ts",
    line: "? sql`status = ${status} and (status_until > ${now}) is true`",
    becomes: "? sql`status = ${status} and (status_until >= ${now}) is true`",
    why: "the list and the single read disagree for a moment",
    tests: ["test/properties/status.test.ts"]
  },
  {
    file: "src/layers/sql/Admins.ts",
    line: "where organization_id = ${organizationId} and id = ${adminId} and joined_at is not null",
    becomes: "where organization_id = ${organizationId} and id = ${adminId}",
    why: "an admin who has not joined has mail preferences",
    tests: ["test/spec/04_3_mail_preferences.test.ts"]
  },
  {
    file: "src/layers/sql/OAuthClients.ts",
    line: "yield* sql`select pg_advisory_xact_lock(${registrationLock})`",
    becomes: "",
    why: "registrations at once pass the limit",
    tests: ["test/oauth/races.test.ts"]
  },
  {
    file: "src/layers/sql/DirectoryLock.ts",
    line: "if (!locks.tryLock(fd)) {",
    becomes: "if (!locks.tryLock(fd) && absolute === \"\") {",
    why: "two processes write one embedded database",
    tests: ["test/layers/sql/Pglite.test.ts"]
  },
  {
    file: "src/layers/sql/AccountAccess.ts",
    line: "and chosen.account_id = account.id)`",
    becomes: ")`",
    why: "an application that reaches one account reaches all",
    tests: ["test/oauth/reach.test.ts"]
  },
  {
    file: "src/layers/sql/Guard.ts",
    line: "where organization_id = $1 and account_id = $2 and (busy_until is null or busy_until <= $4)",
    becomes: "where organization_id = $1 and account_id = $2 and (busy_until is null or busy_until <> $4)",
    why: "two work on one account at the same time",
    tests: ["test/engine/claims.test.ts"]
  },
  {
    file: "src/layers/sql/Monitors.ts",
    line: "when epoch <> done.epoch_then then next_at",
    becomes: "when epoch < 0 then next_at",
    why: "a look that ends undoes a pause that came during it",
    tests: ["test/engine/claims.test.ts"]
  },
  {
    file: "src/layers/sql/Monitors.ts",
    line: "and fence = done.fence_then",
    becomes: "",
    why: "a look that took too long gives back an account that somebody else holds",
    tests: ["test/engine/claims.test.ts"]
  },
  {
    file: "src/layers/sql/Accounts.ts",
    line: "update monitor set epoch = epoch + 1, next_at = ${now}, urgent = true, started_at = ${now},",
    becomes: "update monitor set epoch = epoch + 1, next_at = null, urgent = true, started_at = ${now},",
    why: "an account that is resumed is protected by nobody",
    tests: ["test/engine/twoDays.test.ts"]
  },
  {
    file: "src/layers/sql/Connections.ts",
    line: "const isLast = control || this.#posted.length > 0",
    becomes: "const isLast = control",
    why: "a transaction of which a change has failed goes on, and tells another reason",
    tests: ["test/layers/sql/Tenant.test.ts"]
  },
  {
    file: "src/layers/sql/Connections.ts",
    line: "const statements = [...this.#beginning, ...this.#posted, statement]",
    becomes: "const statements = [...this.#beginning, statement]",
    why: "changes that wait for the COMMIT are never sent, and their answer says that they are made",
    tests: ["test/layers/sql/wireSession.test.ts", "test/properties/journal.test.ts"]
  },
  {
    file: "src/layers/sql/Connections.ts",
    line: "onSuccess: ({ command }) => command === \"ROLLBACK\" ? Effect.fail(aborted()) : Effect.void",
    becomes: "onSuccess: () => Effect.void",
    why: "a COMMIT that rolled back is acknowledged",
    tests: ["test/layers/sql/Client.test.ts"]
  },
  {
    file: "src/layers/sql/LastUses.ts",
    line: "for no key update of ${table} skip locked) as used",
    becomes: "for no key update of ${table}) as used",
    why: "who changes a key makes all that was used meanwhile wait",
    tests: ["test/layers/sql/lastUses.test.ts"]
  },
  {
    file: "src/layers/sql/LastUses.ts",
    line: "yield* Effect.addFinalizer(() => writeAll)",
    becomes: "",
    why: "a service that stops forgets who used it last",
    tests: ["test/layers/sql/lastUses.test.ts"]
  },
  {
    file: "src/layers/sql/Journal.ts",
    line: "if (last.sequence > sequence && sequence > missed) {",
    becomes: "if (last.sequence < sequence) {",
    why: "an event that comes while a journal is verified is taken for a break",
    tests: ["test/properties/chain.test.ts"]
  },
  {
    file: "src/layers/sql/Journal.ts",
    line: "if (last.sequence !== sequence || last.hash !== hash) return { ok: false, sequence, reason: \"head\" }",
    becomes: "if (last.sequence < sequence) return { ok: false, sequence, reason: \"head\" }",
    why: "an event that the head does not know passes",
    tests: ["test/properties/chain.test.ts"]
  }
]
