/** Mutants of the pure rules. */
import { change, type MutantsByFile } from "../mutant.ts"

export const domain: MutantsByFile = {
  "src/domain/JsonShapes.ts": [
    change({ in: "isPlainText", replace: " && !control.test(text)", by: "" })
      .loses("control characters reach the database and people's screens")
      .seenBy("test/http/body.test.ts"),
    change({ in: "PageLimit", replace: "100", by: "1000" })
      .loses("one request reads ten times as much")
      .seenBy("test/spec/04_7_list_accounts.test.ts")
  ],
  "src/domain/Limits.ts": [
    change({ in: "requestsPerMinute", replace: "120", by: "121" })
      .loses("the limit is not the specification's")
      .seenBy("test/spec/08_limits.test.ts")
  ],
  "src/domain/accounts/Account.ts": [
    change({ in: "accountDetail", replace: "seesDevices(caller.role)", by: "caller.role !== \"billing\"" })
      .loses("the archive role sees people's devices")
      .seenBy("test/properties/masking.test.ts"),
    change({ in: "archive", replace: "caller.readsArchive", by: "true" })
      .loses("a role without the archive sees its state")
      .seenBy("test/properties/masking.test.ts")
  ],
  "src/domain/accounts/ProtectionStatus.ts": [
    change({ in: "statusAt", replace: "<", by: "<=" })
      .loses("a takeover counts a millisecond too long, and pages disagree with the single read")
      .seenBy("test/domain/accounts/ProtectionStatus.test.ts"),
    change({ in: "isActive", replace: " && status !== \"available\"", by: "" })
      .loses("an offboarded account can be paused")
      .seenBy("test/spec/04_11_pause_and_resume.test.ts")
  ],
  "src/domain/credentials/GrantingLimits.ts": [
    change({ in: "exceeded", replace: "every", by: "some" })
      .loses("a credential makes a key that may do more than it may itself")
      .seenBy("test/spec/05_1_credential_operations.test.ts"),
    change({ in: "exceeded", replace: "!==", by: "===" })
      .loses("an application that is limited to some accounts makes itself a key without that limit")
      .seenBy("test/spec/05_1_credential_operations.test.ts")
  ],
  "src/layers/sql/journal/JournalRows.ts": [
    change({ in: "runs", replace: "\"hash\"]", by: "\"hash\", \"ip\"]" })
      .loses("the address of a journaled act can be altered unseen")
      .seenBy("test/properties/chain.test.ts")
  ],
  "src/domain/journal/JournalEvent.ts": [
    change({
      in: "chainSeed",
      replace: "(organizationId: string): string => `journal/1\\n${organizationId}`",
      by: "(_organizationId: string): string => \"journal/1\""
    })
      .loses("whole journals can be swapped unseen")
      .seenBy("test/properties/chain.test.ts")
  ],
  "src/domain/logins/Connecting.ts": [
    change({
      in: "refuses",
      replace: "known !== null && !known.accessible",
      by: "false"
    })
      .loses("connecting a person again gives access to an account that the admin could not access")
      .seenBy("test/spec/04_16_logins.test.ts")
  ],
  "src/domain/organization/Organization.ts": [
    change({ in: "consequences", replace: "=== \"licence\"", by: "!== null" })
      .loses("an organization that an operator has suspended is active again with a new licence")
      .seenBy("test/jobs/licenceEnds.test.ts"),
    change({ in: "endedByTime", replace: "if (facts.closed_at !== null) return null", by: "" })
      .loses("what is closed goes on changing")
      .seenBy("test/domain/organization/Organization.test.ts")
  ],
  "src/domain/people/Access.ts": [
    change({ in: "canAccessEveryAccount", replace: "\"admin\" && role !== \"archive\"", by: "\"archive\"" })
      .loses("an admin reaches accounts that were not granted")
      .seenBy("test/properties/missing.test.ts"),
    change({ in: "protectors", replace: "\"admin\"", by: "\"admin\", \"billing\"" })
      .loses("billing may change accounts")
      .seenBy("test/spec/01_access.test.ts"),
    change({ in: "superadmins", replace: "\"superadmin\"", by: "\"superadmin\", \"admin\"" })
      .loses("an admin sees everybody's credentials and the whole journal")
      .seenBy("test/spec/04_2_ai_connections.test.ts"),
    change({
      in: "readsArchive",
      replace: "(role: Role, granted: boolean): boolean => role === \"admin\" ? granted : role",
      by: "(role: Role, _granted: boolean): boolean => role"
    })
      .loses("an admin reads the archive without the grant")
      .seenBy("test/properties/masking.test.ts", "test/spec/01_service.test.ts")
  ],
  "src/domain/people/AdminRules.ts": [
    change({ in: "givesMuch", replace: "canAccessEveryAccount(role) || ", by: "" })
      .loses("an assistant makes an admin who can access every account")
      .seenBy("test/spec/04_16_giving_access.test.ts"),
    change({ in: "opensArchive", replace: "&& !readsArchive(role, archive_access)", by: "&& false" })
      .loses("a grant that was kept opens the archive again without the password")
      .seenBy("test/spec/04_16_giving_access.test.ts")
  ],
  "src/domain/signin/PendingSignIns.ts": [
    change({ in: "strangers", replace: "each.browser === null && ", by: "" })
      .loses("an attacker with the password displaces the sign-in of the admin's own browser")
      .seenBy("test/http/pages/signin/pendingSignIns.test.ts"),
    change({ in: "given", replace: "surplus(strangers)", by: "strangers.at(-1)" })
      .loses("an attacker with the password displaces the admin's sign-in from many addresses")
      .seenBy("test/http/pages/signin/pendingSignIns.test.ts")
  ],
  "src/domain/people/Scopes.ts": [
    change({
      in: "needsPassword",
      replace: "readingScopes.includes(scope)",
      by: "scope.endsWith(\":read\") && scope !== \"accounts:write\""
    })
      .loses("a scope that writes is granted without the console password")
      .seenBy("test/spec/05_1_credential_operations.test.ts")
  ]
}
