/** The commands about the keys that archives are sealed to. */
import { Effect, Option, Redacted } from "effect"
import { Command, Flag } from "effect/cli"
import { asking, flag, organization, passwordInput, sending } from "../OperatorCommand.ts"
import * as Output from "../Output.ts"

const set = Command.make(
  "set",
  {
    ...asking({
      organization,
      replace: Flag.Boolean("replace").pipe(
        Flag.withDescription(
          "Make a new key where there is one: what is archived until now opens by its own password alone"
        ),
        Flag.withDefault(false)
      )
    }),
    keyFile: flag("key-file", "File of archive key make, which takes the place of a password").pipe(Flag.optional)
  },
  ({ keyFile, ...input }) =>
    Effect.gen(function*() {
      const { readKeyFile } = yield* Effect.promise(() => import("./KeyFile.ts"))
      const key = Option.isSome(keyFile) ? yield* readKeyFile(keyFile.value) : null
      const password = key === null ? yield* passwordInput("Archive password") : null
      const send = sending(
        (requests, asked: typeof input.asked) =>
          Effect.map(
            requests.archive_key_set({ ...asked, password, key }),
            ({ organization, recovery_code }) => ({
              organization,
              recovery_code: recovery_code === null ? null : Redacted.value(recovery_code)
            })
          ),
        ({ organization, recovery_code }) =>
          recovery_code === null
            ? [
              `The archive of ${organization} is sealed to the key of the file. Its recovery code was shown when it was made.`
            ]
            : [
              `The archive of ${organization} has its password. Keep this recovery code, which is shown this once:`,
              recovery_code
            ]
      )
      yield* send(input)
    })
).pipe(
  Command.withDescription(
    "Set the password of an organization's archive, by prompt or standard input, or a key that was made elsewhere"
  ),
  Output.examples(
    ["archive key set acme", "By prompt"],
    ["archive key set acme < password.txt", "From the first line of a file"],
    ["archive key set acme --key-file key.json", "Without the password: it stays where the key was made"]
  )
)

const make = Command.make(
  "make",
  { organization, to: flag("to", "File of the key, which must not exist yet"), json: Output.json },
  ({ json, organization, to }) =>
    Effect.gen(function*() {
      const { makeKeyFile } = yield* Effect.promise(() => import("./KeyFile.ts"))
      const made = yield* makeKeyFile(organization, yield* passwordInput("Archive password"), to)
      yield* Output.print(json, made, () => [
        `${to} has a key for the archive of ${organization}. Keep its recovery code, which is shown this once:`,
        made.recovery_code
      ])
    })
).pipe(
  Command.withDescription(
    "Make a key and its wraps in a file, without a database: the service then never has the password"
  ),
  Output.examples(["archive key make acme --to key.json", "On a machine of the organization"])
)

export const key = Command.make("key").pipe(
  Command.withDescription("Set the key that archives are sealed to"),
  Command.withSubcommands([set, make])
)
