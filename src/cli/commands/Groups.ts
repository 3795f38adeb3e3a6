/** The commands by what they work on. */
import { Command } from "effect/cli"
import { keyCommands } from "./credentials/KeyCommands.ts"
import { journalCommands } from "./journal/JournalCommands.ts"
import { createOrganization, transferOwnership } from "./organization/OrganizationCommands.ts"
import { adminCommands } from "./people/AdminCommands.ts"
import { adminRecords, keyRecords, organizationRecords } from "./RecordCommands.ts"
import { identityCommands, identityProvider } from "./signin/IdentityCommands.ts"

export const organizations = Command.make("organizations").pipe(
  Command.withSubcommands([createOrganization, transferOwnership, ...organizationRecords, identityProvider])
)

export const admins = Command.make("admins").pipe(
  Command.withSubcommands([...adminCommands, ...adminRecords, ...identityCommands])
)

export const keys = Command.make("keys").pipe(
  Command.withSubcommands([...keyCommands, ...keyRecords])
)

export const journal = Command.make("journal").pipe(
  Command.withSubcommands([...journalCommands])
)
