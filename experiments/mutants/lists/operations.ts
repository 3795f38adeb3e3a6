import type { Mutant } from "../list.ts"

export const operations: ReadonlyArray<Mutant> = [
  {
    file: "src/kernel/Admission.ts",
    line: "if (!caller.scopes.includes(scope)) {",
    becomes: "if (caller.scopes.length === 0) {",
    why: "any scope opens every operation",
    tests: ["test/properties/order.test.ts"]
  },
  {
    file: "src/kernel/Admission.ts",
    line: "if (caller.organizationClosed) return new Failure.OrganizationClosed({})",
    becomes: "",
    why: "an organization that was wound down still answers",
    tests: ["test/properties/order.test.ts"]
  },
  {
    file: "src/kernel/Admission.ts",
    line: "if (!roles.includes(caller.role)) return new refusal({})",
    becomes: "",
    why: "the role is not asked",
    tests: ["test/spec/01_access.test.ts"]
  },
  {
    file: "src/kernel/Admission.ts",
    line: "const failure = refused(admitted, caller)",
    becomes: "const failure = undefined",
    why: "nothing is refused but what is over the budget",
    tests: ["test/properties/order.test.ts"]
  },
  {
    file: "src/kernel/Refused.ts",
    line: "if (code === undefined || reached === undefined) return Effect.void",
    becomes: "if (code === undefined || reached === undefined || code !== \"\") return Effect.void",
    why: "what is refused leaves no entry",
    tests: ["test/kernel/refusedEntries.test.ts"]
  },
  {
    file: "src/kernel/runners/Write.ts",
    line: "const account = yield* resolve(caller, input, true)",
    becomes: "const account = yield* resolve(caller, input, false)",
    why: "a write decides on a row that it has not locked",
    tests: ["test/properties/races.test.ts"]
  },
  {
    file: "src/kernel/runners/Write.ts",
    line: "if (outcome.changed) {",
    becomes: "if (outcome.changed || outcome.answer !== undefined) {",
    why: "what changes nothing leaves an entry",
    tests: ["test/properties/reading.test.ts"]
  },
  {
    file: "src/kernel/Operation.ts",
    line: "return contract.before === undefined ? done : Effect.andThen(contract.before(decoded, { caller }), done)",
    becomes: "return done",
    why: "keys are made without the console password, and with more than the credential carries",
    tests: ["test/spec/05_1_credential_operations.test.ts"]
  },
  {
    file: "src/operations/accounts/pause_protection.ts",
    line: "if (!isActive(deriveStatus(account, now))) return yield* new NotActive({})",
    becomes: "",
    why: "the state is not asked",
    tests: ["test/spec/04_11_pause_and_resume.test.ts"]
  },
  {
    file: "src/operations/accounts/set_account_role_label.ts",
    line: "roles: protectors,",
    becomes: "roles: [\"owner\", \"superadmin\", \"admin\", \"archive\"],",
    why: "a role that only reads changes accounts",
    tests: ["test/spec/01_access.test.ts"]
  },
  {
    file: "src/operations/accounts/set_messenger_username.ts",
    line: "scope: \"accounts:write\",",
    becomes: "scope: \"org:read\",",
    why: "a scope that only reads changes the messenger",
    tests: ["test/spec/04_operations.test.ts"]
  },
  {
    file: "src/domain/HandingOut.ts",
    line: "return scopes.every((scope) => carried.includes(scope)) ? null : new ScopeExceeded({ param: \"scopes\" })",
    becomes: "return scopes.some((scope) => carried.includes(scope)) ? null : new ScopeExceeded({ param: \"scopes\" })",
    why: "a credential makes a key that may do more than it may itself",
    tests: ["test/spec/05_1_credential_operations.test.ts"]
  },
  {
    file: "src/domain/HandingOut.ts",
    line: "if (unlimited && limit !== null) {",
    becomes: "if (unlimited && limit === null) {",
    why: "an application that is limited to some accounts makes itself a key without that limit",
    tests: ["test/spec/05_1_credential_operations.test.ts"]
  },
  {
    file: "src/kernel/Operation.ts",
    line:
      "if (contract.page !== undefined && caller.via === \"mcp\") return Effect.fail(new Failure.ConsolePageRequired({}))",
    becomes: "",
    why: "an assistant's conversation holds a key",
    tests: ["test/spec/05_1_credential_operations.test.ts"]
  },
  {
    file: "src/operations/credentials/revoke_api_key.ts",
    line: "const { revoked } = yield* issued.lockApiKey(caller.organizationId, api_key_id)",
    becomes: "const revoked = false",
    why: "two revocations at once leave two entries",
    tests: ["test/properties/races.test.ts"]
  },
  {
    file: "src/operations/credentials/revoke_ai_connection.ts",
    line: "const { revoked } = yield* issued.lockConnection(caller.organizationId, connection_id)",
    becomes: "const revoked = false",
    why: "two disconnections at once leave two entries",
    tests: ["test/properties/races.test.ts"]
  },
  {
    file: "src/operations/credentials/revoke_ai_connection.ts",
    line: "if (revoked) return Operation.unchanged(found)",
    becomes: "",
    why: "a connection is revoked twice, and the second moment is kept",
    tests: ["test/spec/05_1_credential_operations.test.ts"]
  },
  {
    file: "src/kernel/Admission.ts",
    line: "return isBeyond(whole, caller.limit)",
    becomes: "return false",
    why: "an application that is limited to some accounts reads the whole journal",
    tests: ["test/oauth/reach.test.ts"]
  },
  {
    file: "src/kernel/runners/Guarded.ts",
    line: "? yield* run.steps.settle(plan, exit.value, after)",
    becomes: "? {}",
    why: "what was changed on the messenger is not kept",
    tests: ["test/spec/04_14_username.test.ts", "test/properties/messenger.test.ts"]
  },
  {
    file: "src/kernel/runners/Guarded.ts",
    line: "return { error: tag, certain: tag !== \"interrupted\" && tag !== \"messenger_unavailable\" }",
    becomes: "return { error: tag, certain: tag !== \"interrupted\" }",
    why: "the journal says of a lost answer that nothing has happened",
    tests: ["test/properties/messenger.test.ts"]
  },
  {
    file: "src/kernel/runners/Guarded.ts",
    line: "const exit = yield* Effect.exit(restore(run.steps.act(plan, { ...begun.known, live })))",
    becomes: "const exit = yield* restore(Effect.exit(run.steps.act(plan, { ...begun.known, live })))",
    why: "a caller that gives up leaves an intent without an outcome",
    tests: ["test/properties/messenger.test.ts"]
  },
  {
    file: "src/kernel/runners/Guarded.ts",
    line: "if (Exit.isSuccess(answered)) yield* run.keep(answered.value)",
    becomes: "",
    why: "a request that a crash cut off after its outcome makes the change once more",
    tests: ["test/properties/idempotentChange.test.ts"]
  },
  {
    file: "src/operations/admins/set_admin_access.ts",
    line: "yield* requireAccess(caller, wanted)",
    becomes: "",
    why: "an application that is limited gives others access to what lies beyond its limit",
    tests: ["test/properties/sequences.test.ts"]
  },
  {
    file: "src/kernel/Writer.ts",
    line: "if (optional && member === undefined) continue",
    becomes: "if (member === undefined) continue",
    why: "an answer without one of its members passes",
    tests: ["test/kernel/writer.test.ts"]
  },
  {
    file: "src/kernel/Writer.ts",
    line: "texts.get(value) ?? wrong(`one of ${[...texts.values()].join(\", \")}`)",
    becomes: "texts.get(value) ?? JSON.stringify(value)",
    why: "an answer says what its type does not know",
    tests: ["test/kernel/writer.test.ts"]
  },
  {
    file: "src/kernel/Writer.ts",
    line: "if (code < 0x20 || code === 0x22 || code === 0x5c || (code >= 0xd800 && code <= 0xdfff)) return false",
    becomes: "if (code < 0x20 || code === 0x22 || (code >= 0xd800 && code <= 0xdfff)) return false",
    why: "a text with a backslash is no JSON",
    tests: ["test/kernel/writer.test.ts"]
  },
  {
    file: "src/kernel/Iso.ts",
    line: "const day = Math.floor(time / dayLength)",
    becomes: "const day = Math.trunc(time / dayLength)",
    why: "a date before 1970 is written as no date",
    tests: ["test/kernel/writer.test.ts"]
  }
]
