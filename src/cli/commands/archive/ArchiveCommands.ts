/** The commands about archives. */
import { Effect, Redacted } from "effect"
import { Command, Flag } from "effect/cli"
import { asking, organization, passwordInput, sending } from "../DatabaseCommand.ts"

const set = Command.make(
  "set",
  asking({
    organization,
    replace: Flag.Boolean("replace").pipe(
      Flag.withDescription("Make a new key where there is one: what is archived until now can be read no more"),
      Flag.withDefault(false)
    )
  }),
  (input) =>
    Effect.flatMap(passwordInput("Archive password"), (password) => {
      const send = sending(
        (requests, asked: typeof input.asked) =>
          Effect.map(requests.archive_key_set({ ...asked, password }), ({ organization, recovery_code }) => ({
            organization,
            recovery_code: Redacted.value(recovery_code)
          })),
        ({ organization, recovery_code }) => [
          `The archive of ${organization} has its password. Keep this recovery code, which is shown this once:`,
          recovery_code
        ]
      )
      return send(input)
    })
).pipe(
  Command.withDescription("Set the password of an organization's archive, by prompt or standard input"),
  Command.withExamples([
    { command: "security-console archive key set acme", description: "By prompt" },
    { command: "security-console archive key set acme < password.txt", description: "From the first line of a file" }
  ])
)

const key = Command.make("key").pipe(
  Command.withDescription("Set the key that archives are sealed to"),
  Command.withSubcommands([set])
)

export const archive = Command.make("archive").pipe(Command.withSubcommands([key]))
