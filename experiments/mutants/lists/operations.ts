import { change, type MutantsByFile } from "../mutant.ts"

export const operations: MutantsByFile = {
  "src/kernel/Admission.ts": [
    change({ in: "refused", replace: "!caller.scopes.includes(scope)", by: "caller.scopes.length === 0" })
      .loses("any scope opens every operation")
      .seenBy("test/properties/order.test.ts"),
    change({
      in: "refused",
      replace: "if (caller.organizationClosed) return new Failure.OrganizationClosed({})",
      by: ""
    })
      .loses("an organization that was wound down still answers")
      .seenBy("test/properties/order.test.ts"),
    change({
      in: "refused",
      replace: "if (!roles.includes(caller.role) && !isRepetition(admitted, caller)) return new refusal({})",
      by: ""
    })
      .loses("the role is not asked")
      .seenBy("test/spec/01_access.test.ts"),
    change({ in: "failure", replace: "refused(admitted, caller)", by: "undefined" })
      .loses("nothing is refused but what is over the budget")
      .seenBy("test/properties/order.test.ts"),
    change({ in: "refused", replace: "isBeyond(whole, caller.limit)", by: "false" })
      .loses("an application that is limited to some accounts reads the whole journal")
      .seenBy("test/oauth/access.test.ts")
  ],
  "src/kernel/RefusedEntries.ts": [
    change({ in: "journalRefusals", replace: "reached === undefined", by: "reached === undefined || code !== \"\"" })
      .loses("what is refused leaves no entry")
      .seenBy("test/kernel/refusedEntries.test.ts")
  ],
  "src/kernel/runners/Write.ts": [
    change({ in: "account", replace: "true", by: "false" })
      .loses("a write decides on a row that it has not locked")
      .seenBy("test/properties/races.test.ts"),
    change({ in: "change", replace: "changed", by: "changed || outcome.answer !== undefined" })
      .loses("what changes nothing leaves an entry")
      .seenBy("test/properties/reading.test.ts")
  ],
  "src/kernel/Build.ts": [
    change({
      in: "check",
      replace: "contract.before === undefined ? Effect.void : contract.before(input, { caller })",
      by: "Effect.void"
    })
      .loses("keys are made without the console password, and with more than the credential carries")
      .seenBy("test/spec/05_1_credential_operations.test.ts"),
    change({
      in: "perform",
      replace:
        "if (contract.page !== undefined && caller.via === \"mcp\") return Effect.fail(new Failure.ConsolePageRequired({}))",
      by: ""
    })
      .loses("an assistant's conversation holds a key")
      .seenBy("test/spec/05_1_credential_operations.test.ts"),
    change({ in: "perform", replace: "matched(raw, input)", by: "raw" })
      .loses("an Idempotency-Key tells whether a guessed password was right")
      .seenBy("test/properties/idempotency.test.ts")
  ],
  "src/domain/people/AdminRules.ts": [
    change({ in: "givesMuch", replace: "canAccessEveryAccount(role) || ", by: "" })
      .loses("an assistant makes an admin who can access every account")
      .seenBy("test/spec/04_16_giving_access.test.ts"),
    change({ in: "opensArchive", replace: "&& !readsArchive(role, archive_access)", by: "&& false" })
      .loses("a grant that was kept opens the archive again without the password")
      .seenBy("test/spec/04_16_giving_access.test.ts")
  ],
  "src/operations/accounts/pause_protection.ts": [
    change({
      in: "pauseProtection",
      replace: "if (!isActive(deriveStatus(account, now))) return yield* new NotActive({})",
      by: ""
    })
      .loses("the state is not asked")
      .seenBy("test/spec/04_11_pause_and_resume.test.ts")
  ],
  "src/operations/accounts/set_account_role_label.ts": [
    change({ in: "roles", replace: "protectors", by: "[\"owner\", \"superadmin\", \"admin\", \"archive\"]" })
      .loses("a role that only reads changes accounts")
      .seenBy("test/spec/01_access.test.ts")
  ],
  "src/operations/accounts/set_messenger_username.ts": [
    change({ in: "scope", replace: "accounts:write", by: "org:read" })
      .loses("a scope that only reads changes the messenger")
      .seenBy("test/spec/04_operations.test.ts")
  ],
  "src/domain/credentials/GrantingLimits.ts": [
    change({ in: "exceeded", replace: "every", by: "some" })
      .loses("a credential makes a key that may do more than it may itself")
      .seenBy("test/spec/05_1_credential_operations.test.ts"),
    change({ in: "exceeded", replace: "!==", by: "===" })
      .loses("an application that is limited to some accounts makes itself a key without that limit")
      .seenBy("test/spec/05_1_credential_operations.test.ts")
  ],
  "src/operations/credentials/revoke_api_key.ts": [
    change({
      in: "revokeApiKey",
      replace: "{ revoked } = yield* issued.lockApiKey(caller.organizationId, api_key_id)",
      by: "revoked = false"
    })
      .loses("two revocations at once leave two entries")
      .seenBy("test/properties/races.test.ts")
  ],
  "src/operations/credentials/revoke_ai_connection.ts": [
    change({
      in: "revokeAiConnection",
      replace: "{ revoked } = yield* issued.lockConnection(caller.organizationId, connection_id)",
      by: "revoked = false"
    })
      .loses("two disconnections at once leave two entries")
      .seenBy("test/properties/races.test.ts"),
    change({ in: "revokeAiConnection", replace: "if (revoked) return Operation.unchanged(found)", by: "" })
      .loses("a connection is revoked twice, and the second moment is kept")
      .seenBy("test/spec/05_1_credential_operations.test.ts")
  ],
  "src/kernel/runners/MessengerChange.ts": [
    change({ in: "settled", replace: "yield* run.steps.settle(plan, exit.value, after)", by: "{}" })
      .loses("what was changed on the messenger is not kept")
      .seenBy("test/spec/04_14_username.test.ts", "test/properties/messenger.test.ts"),
    change({ in: "failureOf", replace: "&& tag !== \"messenger_unavailable\" ", by: "" })
      .loses("the journal says of a lost answer that nothing has happened")
      .seenBy("test/properties/messenger.test.ts"),
    change({ in: "exit", replace: "Effect.exit(restore(", by: "restore(Effect.exit(" })
      .loses("a caller that gives up leaves an intent without an outcome")
      .seenBy("test/properties/messenger.test.ts"),
    change({ in: "finish", replace: "if (Exit.isSuccess(answered)) yield* run.keep(answered.value)", by: "" })
      .loses("a request that a crash cut off after its outcome makes the change once more")
      .seenBy("test/properties/idempotentChange.test.ts")
  ],
  "src/operations/people/set_admin_access.ts": [
    change({ in: "setAdminAccess", replace: "yield* requireAccess(caller, wanted)", by: "" })
      .loses("an application that is limited gives others access to what lies beyond its limit")
      .seenBy("test/properties/sequences.test.ts")
  ],
  "src/kernel/JsonWriter.ts": [
    change({ in: "struct", replace: "optional && ", by: "" })
      .loses("an answer without one of its members passes")
      .seenBy("test/kernel/writer.test.ts"),
    change({
      in: "literals",
      replace: "wrong(`one of ${[...texts.values()].join(\", \")}`)",
      by: "JSON.stringify(value)"
    })
      .loses("an answer says what its type does not know")
      .seenBy("test/kernel/writer.test.ts"),
    change({ in: "isPlain", replace: "code === 0x5c || ", by: "" })
      .loses("a text with a backslash is no JSON")
      .seenBy("test/kernel/writer.test.ts")
  ],
  "src/kernel/InstantText.ts": [
    change({ in: "day", replace: "floor", by: "trunc" })
      .loses("a date before 1970 is written as no date")
      .seenBy("test/kernel/writer.test.ts")
  ]
}
