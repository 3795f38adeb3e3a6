/** Mutants of what all operations share, and of intents. */
import { change, type MutantsByFile } from "../mutant.ts"

export const kernel: MutantsByFile = {
  "src/changes/Intent.ts": [
    change({ in: "begin", replace: "(yield* journal.renew", by: "earlier < 0 && (yield* journal.renew" })
      .loses("each try of a sign-out leaves an intent open")
      .seenBy("test/protection/crashes.test.ts"),
    change({ in: "close", replace: "outcome !== \"done\" && ", by: "" })
      .loses("the journal says for ever that a change has failed whose outcome came after the sweep")
      .seenBy("test/protection/meanwhile.test.ts", "test/changes/intent.test.ts"),
    change({ in: "uncertain", replace: "\"messenger_unavailable\", ", by: "" })
      .loses("the journal says of a lost answer that nothing has happened")
      .seenBy("test/properties/messenger.test.ts"),
    change({ in: "exit", replace: "Effect.exit(act(context))", by: "Effect.interruptible(Effect.exit(act(context)))" })
      .loses("a caller that gives up leaves an intent without an outcome")
      .seenBy("test/properties/messenger.test.ts")
  ],
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
    change({ in: "performHere", replace: "matched(raw, input)", by: "raw" })
      .loses("an Idempotency-Key tells whether a guessed password was right")
      .seenBy("test/properties/idempotency.test.ts")
  ],
  "src/kernel/InstantText.ts": [
    change({ in: "day", replace: "floor", by: "trunc" })
      .loses("a date before 1970 is written as no date")
      .seenBy("test/kernel/writer.test.ts")
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
  "src/kernel/RefusedEntries.ts": [
    change({ in: "journalRefusals", replace: "reached === undefined", by: "reached === undefined || code !== \"\"" })
      .loses("what is refused leaves no entry")
      .seenBy("test/kernel/refusedEntries.test.ts")
  ],
  "src/kernel/runners/MessengerChange.ts": [
    change({ in: "settled", replace: "yield* steps.settle(plan, result, after)", by: "{}" })
      .loses("what was changed on the messenger is not kept")
      .seenBy("test/spec/04_14_username.test.ts", "test/properties/messenger.test.ts"),
    change({ in: "settle", replace: "if (Exit.isSuccess(answered)) yield* keep(answered.value)", by: "" })
      .loses("a request that a crash cut off after its outcome makes the change once more")
      .seenBy("test/properties/idempotentChange.test.ts")
  ],
  "src/kernel/runners/Write.ts": [
    change({ in: "account", replace: "true", by: "false" })
      .loses("a write decides on a row that it has not locked")
      .seenBy("test/properties/races.test.ts"),
    change({ in: "change", replace: "changed", by: "changed || outcome.answer !== undefined" })
      .loses("what changes nothing leaves an entry")
      .seenBy("test/properties/reading.test.ts")
  ]
}
