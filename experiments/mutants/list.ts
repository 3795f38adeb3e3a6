/** Changes to the sources of which each alone must turn tests red: one line of one file, and what it becomes. */
import { cli } from "./lists/cli.ts"
import { database } from "./lists/database.ts"
import { domain } from "./lists/domain.ts"
import { edge } from "./lists/edge.ts"
import { http } from "./lists/http.ts"
import { layers } from "./lists/layers.ts"
import { mcp } from "./lists/mcp.ts"
import { oauth } from "./lists/oauth.ts"
import { operations } from "./lists/operations.ts"
import { protection } from "./lists/protection.ts"
import { watching } from "./lists/watching.ts"
import { wire } from "./lists/wire.ts"

export interface Mutant {
  /** Of the sources, by its path. */
  readonly file: string
  /** The whole line without its indentation; it stands once in the file. */
  readonly line: string
  /** What stands there instead; nothing where the line is dropped. */
  readonly becomes: string
  /** What would be lost. */
  readonly why: string
  /** The files that must see it. */
  readonly tests: ReadonlyArray<string>
}

export const mutants: ReadonlyArray<Mutant> = [
  ...domain,
  ...protection,
  ...watching,
  ...operations,
  ...oauth,
  ...edge,
  ...http,
  ...mcp,
  ...layers,
  ...database,
  ...wire,
  ...cli
]
