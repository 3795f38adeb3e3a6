import { change, type MutantsByFile } from "../mutant.ts"

export const database: MutantsByFile = {
  "src/layers/sql/credentials/RateLimiter.ts": [
    change({ in: "counting", replace: "end, cardinality(live) <", by: "end, cardinality(live) <=" })
      .loses("one request more than the limit")
      .seenBy("test/spec/08_limits.test.ts"),
    change({ in: "counting", replace: "windowMillis", by: "windowMillis / 2" })
      .loses("the window is half a minute")
      .seenBy("test/layers/sql/credentials/rateLimiter.test.ts")
  ],
  "src/layers/sql/credentials/Bearers.ts": [
    change({ in: "rows", replace: "text", by: "text || pg_backend_pid()" })
      .loses("each connection to the database counts a credential's requests by itself")
      .seenBy("test/properties/budget.test.ts"),
    change({ in: "keyText", replace: "revoked_at is null and ", by: "" })
      .loses("a revoked key works")
      .seenBy("test/spec/05_1_api_keys.test.ts"),
    change({ in: "keyText", replace: "disabled_at is null and ", by: "" })
      .loses("a disabled admin's key works")
      .seenBy("test/spec/05_1_api_keys.test.ts"),
    change({
      in: "tokenText",
      replace: "ai_connection.resource = $${digestsFrom + digests}",
      by: "$${digestsFrom + digests}::text is not null"
    })
      .loses("a token works at the other resource")
      .seenBy("test/oauth/resources.test.ts"),
    change({
      in: "tokenText",
      replace: "array(select unnest(oauth_token.scopes) intersect select unnest(ai_connection.scopes))",
      by: "oauth_token.scopes"
    })
      .loses("a scope that was taken from a connection stays in its tokens")
      .seenBy("test/oauth/revocation.test.ts")
  ],
  "src/layers/sql/accounts/AccountAccess.ts": [
    change({ in: "ofAdmin", replace: "and granted.account_id = account.id", by: "" })
      .loses("a grant of one account gives access to all")
      .seenBy("test/properties/missing.test.ts"),
    change({
      in: "canAccess",
      replace: "sql`(${ofAdmin(sql, caller)} and ${chosen(sql, caller.limit)})`",
      by: "chosen(sql, caller.limit)"
    })
      .loses("an application reaches what its admin no longer does")
      .seenBy("test/oauth/access.test.ts"),
    change({ in: "canAccessDepartment", replace: "and granted.department_id = department.id", by: "" })
      .loses("an admin of one department grants applications every department")
      .seenBy("test/oauth/granting.test.ts"),
    change({ in: "chosen", replace: "and chosen.account_id = account.id", by: "" })
      .loses("an application that reaches one account reaches all")
      .seenBy("test/oauth/access.test.ts")
  ],
  "src/layers/sql/accounts/AccountReads.ts": [
    change({ in: "find", replace: "organization_id = ${caller.organizationId} and ", by: "" })
      .loses("one wall of two is gone")
      .seenBy("test/properties/isolation.test.ts")
  ],
  "src/layers/sql/accounts/AccountChanges.ts": [
    change({ in: "resume", replace: "${now}, urgent", by: "null, urgent" })
      .loses("an account that is resumed is protected by nobody")
      .seenBy("test/protection/twoDays.test.ts")
  ],
  "src/layers/sql/journal/JournalReads.ts": [
    change({
      in: "visible",
      replace: "sql`(${visibleToRole(sql, caller)} and (account_id is null or ${aboutAccessible(sql, caller)}))`",
      by: "visibleToRole(sql, caller)"
    })
      .loses("an application sees the journal of accounts that it does not reach")
      .seenBy("test/oauth/access.test.ts")
  ],
  "src/layers/sql/journal/JournalAppends.ts": [
    change({ in: "closed", replace: " from open", by: "" })
      .loses("an intent is closed twice")
      .seenBy("test/properties/durability.test.ts")
  ],
  "src/layers/sql/journal/JournalChain.ts": [
    change({ in: "verify", replace: "sequence > sequence && sequence > missed", by: "sequence < sequence" })
      .loses("an event that comes while a journal is verified is taken for a break")
      .seenBy("test/properties/chain.test.ts"),
    change({ in: "verify", replace: "sequence !== sequence || last.hash !== hash", by: "sequence < sequence" })
      .loses("an event that the head does not know passes")
      .seenBy("test/properties/chain.test.ts")
  ],
  "src/layers/sql/accounts/AccountLock.ts": [
    change({ in: "acquire", replace: "if (Option.isNone(held)) yield* Metric.update(waits, 1)", by: "" })
      .loses("nobody sees that requests wait for each other")
      .seenBy("test/properties/messenger.test.ts"),
    change({ in: "taken", replace: "<=", by: "<>" })
      .loses("two work on one account at the same time")
      .seenBy("test/protection/claims.test.ts")
  ],
  "src/layers/sql/mail/MailQueue.ts": [
    change({ in: "finish", replace: "if (givenUp > 0) yield* Metric.update(failed, givenUp)", by: "" })
      .loses("mails are given up, and no alarm says so")
      .seenBy("test/layers/mail/mail.test.ts")
  ],
  "src/layers/sql/organization/LicenceStops.ts": [
    change({
      in: "running",
      replace: "(licence_stopped_at is null or stopped_at is null)",
      by: "licence_stopped_at is null"
    })
      .loses("a pause and a resume bring protection back without a licence")
      .seenBy("test/jobs/timed.test.ts")
  ],
  "src/layers/postgres/schema/functions.sql": [
    change({ in: "append_event", replace: " for no key update; if", by: "; if" })
      .loses("two entries at once take the same place")
      .seenBy("test/properties/races.test.ts"),
    change({ in: "append_event", replace: "greatest(v_at, p_now)", by: "p_now" })
      .loses("times in the journal go back")
      .seenBy("test/properties/journal.test.ts", "test/properties/appending.test.ts")
  ],
  "src/layers/postgres/Tenant.ts": [
    change({ in: "tenant", replace: "'console_app'", by: "current_user" })
      .loses("statements run as the tables' owner, where the wall has doors")
      .seenBy("test/layers/postgres/Tenant.test.ts")
  ],
  "src/layers/postgres/Roles.ts": [
    change({
      in: "checkFacts",
      replace: "if (facts.above) return yield* new RoleBypassesRowSecurity({ role: facts.role })",
      by: ""
    })
      .loses("the service runs as a superuser, for whom there is no wall")
      .seenBy("test/layers/postgres/Roles.test.ts")
  ],
  "src/layers/sql/signin/ConsolePasswords.ts": [
    change({ in: "check", replace: "yield* takeBack(sql, others)", by: "" })
      .loses("people who sign in from one address make each other wait")
      .seenBy("test/http/pages/signin/throttle.test.ts"),
    change({ in: "shared", replace: "admin?.known_address === true", by: "false" })
      .loses("strangers keep an admin out who comes from where they always come from")
      .seenBy("test/http/pages/signin/throttle.test.ts"),
    change({
      in: "others",
      replace: "...(group === null ? [] : [{ key: named(\"address\", group), free: freeAddressFailures }]),",
      by: ""
    })
      .loses("one address tries one password for everybody")
      .seenBy("test/http/pages/signin/throttle.test.ts"),
    change({
      in: "others",
      replace: "shared(\"network\", freeNetworkFailures, networks[0], today),",
      by: ""
    })
      .loses("each of the 65,536 networks of one customer guesses for itself")
      .seenBy("test/http/pages/signin/networks.test.ts"),
    change({
      in: "check",
      replace:
        "yield* PasswordFailures.record(sql, { key: whose, admin: admin === undefined ? null : refOf(admin) }, attempt)",
      by: "if (admin !== undefined) yield* PasswordFailures.record(sql, { key: whose, admin: refOf(admin) }, attempt)"
    })
      .loses("the time of a wrong password tells which addresses are admins")
      .seenBy("test/http/pages/signin/throttleRecords.test.ts")
  ],
  "src/layers/FairTurns.ts": [
    change({ in: "given", replace: "surplus(lane.waiting)", by: "waiter" })
      .loses("one network fills the queue of password checks")
      .seenBy("test/layers/FairTurns.test.ts"),
    change({ in: "nextOf", replace: "working.length >= limits.ofLane", by: "working.length >= limits.atOnce" })
      .loses("strangers take the places of known browsers")
      .seenBy("test/layers/FairTurns.test.ts")
  ],
  "src/domain/signin/PendingSignIns.ts": [
    change({ in: "strangers", replace: "each.browser === null && ", by: "" })
      .loses("an attacker with the password displaces the sign-in of the admin's own browser")
      .seenBy("test/http/pages/signin/pendingSignIns.test.ts"),
    change({ in: "given", replace: "surplus(strangers)", by: "strangers.at(-1)" })
      .loses("an attacker with the password displaces the admin's sign-in from many addresses")
      .seenBy("test/http/pages/signin/pendingSignIns.test.ts")
  ],
  "src/layers/sql/credentials/CredentialNotices.ts": [
    change({ in: "found", replace: "distinct from ${sessionId}", by: "null" })
      .loses("a key that was made by a stolen key is told to nobody")
      .seenBy("test/http/pages/signin/security.test.ts")
  ],
  "src/layers/sql/credentials/IssuedCredentials.ts": [
    change({
      in: "expires",
      replace: "parent === null ? expiresAt : earlier(expiresAt, parent.expires_at)",
      by: "expiresAt"
    })
      .loses("a key outlives the key that made it")
      .seenBy("test/spec/05_1_credential_endings.test.ts"),
    change({ in: "parentOf", replace: "yield* lockFamily(sql, organizationId, credential.id, \"share\")", by: "" })
      .loses("a key is made by one that is being revoked, and stays")
      .seenBy("test/spec/05_1_credential_endings.test.ts")
  ],
  "src/layers/sql/signin/ConsoleSessions.ts": [
    change({
      in: "live",
      replace: " and (password_changed_at is null or password_changed_at <= session.created_at)",
      by: ""
    })
      .loses("a stolen session outlives the changed password")
      .seenBy("test/http/pages/signin/signIn.test.ts"),
    change({ in: "setCookie", replace: "\"HttpOnly\",", by: "" })
      .loses("scripts read the session's cookie")
      .seenBy("test/http/pages/signin/signIn.test.ts"),
    change({ in: "start", replace: "session !== undefined", by: "session === \"\"" })
      .loses("the session before a sign-in goes on")
      .seenBy("test/http/pages/signin/signIn.test.ts")
  ],
  "src/layers/sql/signin/PasswordThrottle.ts": [
    change({ in: "count", replace: ".admitted", by: ".admitted && free > 1000" })
      .loses("passwords are tried without a wait")
      .seenBy("test/http/pages/signin/throttle.test.ts")
  ],
  "src/layers/sql/oauth/OAuthGrants.ts": [
    change({ in: "isActive", replace: " and disabled_at is null", by: "" })
      .loses("an admin who was disabled in the meantime connects an application")
      .seenBy("test/oauth/granting.test.ts")
  ],
  "src/layers/sql/journal/PendingChanges.ts": [
    change({ in: "certain", replace: "false", by: "true" })
      .loses("the journal says of an interrupted change that it did not happen")
      .seenBy("test/properties/durability.test.ts")
  ],
  "src/layers/postgres/Migrate.ts": [
    change({
      in: "check",
      replace: "if (current.applied !== current.known) return yield* new SchemaOlder(current)",
      by: ""
    })
      .loses("the service starts on a schema that it does not know")
      .seenBy("test/layers/postgres/Migrate.test.ts")
  ],
  "src/layers/postgres/schema/accounts.sql": [
    change({ in: "account", replace: ", force row level security", by: "" })
      .loses("the tables' owner walks through the wall")
      .seenBy("test/layers/postgres/Schema.test.ts"),
    change({
      in: "account",
      replace: "organization_id = current_setting('console.organization_id', true)",
      by: "current_setting('console.organization_id', true) <> ''"
    })
      .loses("the wall has no organization in it")
      .seenBy("test/layers/postgres/Schema.test.ts")
  ],
  "src/layers/postgres/schema/journal.sql": [
    change({ in: "journal_event", replace: "grant select, insert on", by: "grant select, insert, update on" })
      .loses("the journal can be changed")
      .seenBy("test/layers/postgres/Schema.test.ts")
  ],
  "src/layers/postgres/schema/oauth.sql": [
    change({ in: "oauth_token", replace: "enable row level security, ", by: "" })
      .loses("tokens and codes stand outside the wall")
      .seenBy("test/layers/postgres/Schema.test.ts")
  ],
  "src/layers/sql/accounts/AccountStatuses.ts": [
    change({ in: "kept", replace: ">", by: ">=" })
      .loses("the list and the single read disagree for a moment")
      .seenBy("test/properties/status.test.ts")
  ],
  "src/layers/sql/people/Admins.ts": [
    change({ in: "mailPreferences", replace: " and joined_at is not null", by: "" })
      .loses("an admin who has not joined has mail preferences")
      .seenBy("test/spec/04_3_mail_preferences.test.ts")
  ],
  "src/layers/sql/oauth/OAuthClients.ts": [
    change({ in: "keep", replace: "yield* sql`select pg_advisory_xact_lock(${registrationLock})`", by: "" })
      .loses("registrations at once pass the limit")
      .seenBy("test/oauth/races.test.ts")
  ],
  "src/layers/postgres/DirectoryLock.ts": [
    change({ in: "lock", replace: "tryLock(fd)", by: "tryLock(fd) && absolute === \"\"" })
      .loses("two processes write one embedded database")
      .seenBy("test/layers/postgres/Pglite.test.ts")
  ],
  "src/layers/sql/protection/Monitors.ts": [
    change({ in: "finished", replace: "epoch <> done.epoch_then", by: "epoch < 0" })
      .loses("a look that ends undoes a pause that came during it")
      .seenBy("test/protection/claims.test.ts"),
    change({ in: "finished", replace: "and fence = done.fence_then", by: "" })
      .loses("a look that took too long gives back an account that somebody else holds")
      .seenBy("test/protection/claims.test.ts")
  ],
  "src/layers/postgres/DatabaseSessions.ts": [
    change({ in: "isLast", replace: " || this.#posted.length > 0", by: "" })
      .loses("a transaction of which a change has failed goes on, and tells another reason")
      .seenBy("test/layers/postgres/Tenant.test.ts"),
    change({ in: "statements", replace: "...this.#posted, ", by: "" })
      .loses("changes that wait for the COMMIT are never sent, and their answer says that they are made")
      .seenBy("test/layers/postgres/serverSession.test.ts", "test/properties/journal.test.ts"),
    change({
      in: "onSuccess",
      replace: "({ command }) => command === \"ROLLBACK\" ? Effect.fail(aborted()) : Effect",
      by: "() => Effect"
    })
      .loses("a COMMIT that rolled back is acknowledged")
      .seenBy("test/layers/postgres/DatabaseClient.test.ts")
  ],
  "src/layers/sql/credentials/LastUses.ts": [
    change({ in: "text", replace: " skip locked", by: "" })
      .loses("who changes a key makes all that was used meanwhile wait")
      .seenBy("test/layers/sql/credentials/lastUses.test.ts"),
    change({ in: "layer", replace: "yield* Effect.addFinalizer(() => writeAll)", by: "" })
      .loses("a service that stops forgets who used it last")
      .seenBy("test/layers/sql/credentials/lastUses.test.ts")
  ]
}
