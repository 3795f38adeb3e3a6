/** The commands by what they work on. */
import { Command } from "effect/cli"
import { applications } from "./ApplicationCommands.ts"
import { adminCommands, createOrganization, keyCommands, seed } from "./Commands.ts"
import { journalCommands } from "./JournalCommands.ts"
import { adminRecords, keyRecords, organizationRecords } from "./RecordCommands.ts"

const organizations = Command.make("organizations").pipe(
  Command.withDescription("Make, list and change organizations"),
  Command.withSubcommands([createOrganization, ...organizationRecords])
)

const admins = Command.make("admins").pipe(
  Command.withDescription("Make, list and change admins"),
  Command.withSubcommands([...adminCommands, ...adminRecords])
)

const keys = Command.make("keys").pipe(
  Command.withDescription("Make, list and revoke API keys"),
  Command.withSubcommands([...keyCommands, ...keyRecords])
)

const journal = Command.make("journal").pipe(
  Command.withDescription("Verify, export and checkpoint journals"),
  Command.withSubcommands([...journalCommands])
)

/** Every command that works on a database. */
export const groups = [organizations, admins, keys, applications, seed, journal] as const
