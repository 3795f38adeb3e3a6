/** The commands by what they work on. */
import { Command } from "effect/cli"
import { adminCommands } from "./AdminCommands.ts"
import { identityCommands, identityProvider } from "./IdentityCommands.ts"
import { journalCommands } from "./JournalCommands.ts"
import { keyCommands } from "./KeyCommands.ts"
import { createOrganization, transferOwnership } from "./OrganizationCommands.ts"
import { adminRecords, keyRecords, organizationRecords } from "./RecordCommands.ts"

/** What is done with organizations. */
export const organizations = Command.make("organizations").pipe(
  Command.withSubcommands([createOrganization, transferOwnership, ...organizationRecords, identityProvider])
)

/** What is done with admins. */
export const admins = Command.make("admins").pipe(
  Command.withSubcommands([...adminCommands, ...adminRecords, ...identityCommands])
)

/** What is done with API keys. */
export const keys = Command.make("keys").pipe(
  Command.withSubcommands([...keyCommands, ...keyRecords])
)

/** What is done with journals. */
export const journal = Command.make("journal").pipe(
  Command.withSubcommands([...journalCommands])
)
