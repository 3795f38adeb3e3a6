/** The commands about API keys. */
import { Duration, Effect, Option, Redacted, Schema } from "effect"
import { Command, Flag } from "effect/cli"
import { defaultApiKeyExpiry } from "../../../domain/Limits.ts"
import { Scope } from "../../../domain/people/Access.ts"
import type * as ApiKeys from "../../../operator/credentials/ApiKeys.ts"
import { Refused } from "../../../operator/UseCase.ts"
import { argument, asking, email, flag, organization, orNull, sending } from "../OperatorCommand.ts"
import * as Output from "../Output.ts"

const key_id = argument("key-id", "The key's id")
const defaultDays = Duration.toDays(defaultApiKeyExpiry)

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
  ...asking({ organization, email, label: flag("label", "What the key is for"), scopes }),
  days: Flag.Int("expires-in-days").pipe(
    Flag.withDescription(`How long it works; ${defaultDays} days by default`),
    orNull
  ),
  never: Flag.Boolean("never-expires").pipe(
    Flag.withDescription("The key works until it is revoked"),
    Flag.withDefault(false)
  )
}, ({ days, never, ...input }) =>
  Effect.gen(function*() {
    if (never && days !== null) {
      return yield* new Refused({ message: "--never-expires and --expires-in-days contradict each other: give one." })
    }
    const create = sending(
      (requests, asked: typeof input.asked) =>
        Effect.map(
          requests.keys_create({ ...asked, expires_in_days: never ? null : days ?? defaultDays }),
          (answer) => ({ ...answer, key: Redacted.value(answer.key) })
        ),
      ({ key }) => [key]
    )
    const answer = yield* create(input)
    yield* Output.remark(
      input.json,
      `Key ${answer.key_id} of ${input.asked.email}; it is shown this once, and works ${
        answer.expires_at === null ? "until it is revoked" : `until ${answer.expires_at.toISOString()}`
      }.`
    )
  })).pipe(
    Command.withDescription("Make an API key of an admin, and show it once"),
    Output.examples([
      "keys create acme olivia@acme.example --label \"Export\" --scopes org:read",
      "Make a key that reads, for 90 days"
    ])
  )

const revokeKey = Command.make(
  "revoke",
  asking({ organization, key_id }),
  sending((requests, asked) => requests.keys_revoke(asked), ({ key_id }) => [`Revoked ${key_id}.`])
).pipe(Command.withDescription("Revoke an API key"))

type Key = typeof ApiKeys.showKey.output.Type

const stateText: Readonly<Record<Key["state"], string>> = {
  works: "works",
  revoked: "revoked",
  expired: "expired",
  stopped: "stopped: its admin is disabled, or has another password since"
}

const keyLines = (found: Key): ReadonlyArray<string> =>
  Output.columns([
    ["Id", found.key_id],
    ["Label", found.label],
    ["Admin", found.admin],
    ["Scopes", found.scopes.join(" ")],
    ["State", stateText[found.state]],
    ["Created", Output.minute(found.created_at)],
    ["Last used", Output.minute(found.last_used_at, "never")],
    ["Expires", Output.minute(found.expires_at, "never")],
    ...(found.revoked_at === null ? [] : [["Revoked", Output.minute(found.revoked_at)]])
  ])

const listKeys = Command.make(
  "list",
  asking({ organization }),
  sending((requests, asked) => requests.keys_list(asked), ({ keys }, asked) =>
    keys.length === 0
      ? [`${asked.organization} has no API key.`]
      : Output.table(
        ["KEY ID", "LABEL", "ADMIN", "STATE"],
        keys.map((each) => [each.key_id, each.label, each.admin, each.state])
      ))
).pipe(Command.withDescription("List the API keys of an organization, the newest first; never the keys themselves"))

const showKey = Command.make(
  "show",
  asking({ organization, key_id }),
  sending((requests, asked) => requests.keys_show(asked), keyLines)
).pipe(Command.withDescription("Show an API key: its admin, scopes and dates; never the key itself"))

export const keys = Command.make("keys").pipe(
  Command.withSubcommands([createKey, revokeKey, listKeys, showKey])
)
