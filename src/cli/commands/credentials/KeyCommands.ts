/** The commands that make and end API keys. */
import { Duration, Effect, Option, Redacted, Schema } from "effect"
import { Argument, Command, Flag } from "effect/cli"
import { defaultApiKeyExpiry } from "../../../domain/Limits.ts"
import { Scope } from "../../../domain/people/Access.ts"
import { Refused } from "../../../operator/UseCase.ts"
import { common, email, organization, run } from "../DatabaseCommand.ts"
import * as Output from "../Output.ts"

const scopes = Flag.String("scopes").pipe(
  Flag.withDescription(`What the key may be used for, separated by commas: ${Scope.literals.join(", ")}`),
  Flag.filterMap(
    (text) => {
      const [first, ...rest] = text.split(",").map((part) => part.trim())
      const all = [first, ...rest].filter(Schema.is(Scope))
      const [head, ...others] = all
      return head === undefined || all.length !== rest.length + 1
        ? Option.none()
        : Option.some([head, ...others] as const)
    },
    () => `some of ${Scope.literals.join(", ")}, separated by commas`
  )
)

const createKey = Command.make("create", {
  ...common,
  organization,
  email,
  label: Flag.String("label").pipe(Flag.withDescription("What the key is for")),
  scopes,
  expiresInDays: Flag.Int("expires-in-days").pipe(
    Flag.withDescription(`How long it works; ${Duration.toDays(defaultApiKeyExpiry)} days by default`),
    Flag.optional
  ),
  never: Flag.Boolean("never-expires").pipe(
    Flag.withDescription("The key works until it is revoked"),
    Flag.withDefault(false)
  )
}, (input) =>
  Effect.gen(function*() {
    if (input.never && Option.isSome(input.expiresInDays)) {
      return yield* new Refused({ message: "--never-expires and --expires-in-days contradict each other: give one." })
    }
    const answer = yield* run(input, (requests) =>
      requests.keys_create({
        organization: input.organization,
        email: input.email,
        label: input.label,
        scopes: input.scopes,
        expires_in_days: input.never
          ? null
          : Option.getOrElse(input.expiresInDays, () => Duration.toDays(defaultApiKeyExpiry))
      }))
    const key = Redacted.value(answer.key)
    yield* Output.print(input.json, { ...answer, key }, () => [key])
    yield* Output.remark(
      input.json,
      `Key ${answer.key_id} of ${input.email}; it is shown this once, and works ${
        answer.expires_at === null ? "until it is revoked" : `until ${answer.expires_at.toISOString()}`
      }.`
    )
  })).pipe(
    Command.withDescription("Make an API key of an admin, and show it once"),
    Command.withExamples([{
      command: "security-console keys create acme olivia@acme.example --label \"Export\" --scopes org:read",
      description: "Make a key that reads, for 90 days"
    }])
  )

const revokeKey = Command.make("revoke", {
  ...common,
  organization,
  keyId: Argument.String("key-id").pipe(Argument.withDescription("The key's id"))
}, (input) =>
  Effect.gen(function*() {
    const answer = yield* run(input, (requests) =>
      requests.keys_revoke({
        organization: input.organization,
        key_id: input.keyId
      }))
    yield* Output.print(input.json, answer, () => [`Revoked ${answer.key_id}.`])
  })).pipe(Command.withDescription("Revoke an API key"))

/** The commands that make and end keys. */
export const keyCommands = [createKey, revokeKey] as const
