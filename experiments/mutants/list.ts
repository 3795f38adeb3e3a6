/** Changes to the sources of which each alone must turn tests red; `mutant.ts` says how one is written. */
import { cli } from "./lists/cli.ts"
import { database } from "./lists/database.ts"
import { domain } from "./lists/domain.ts"
import { http } from "./lists/http.ts"
import { layers } from "./lists/layers.ts"
import { mcp } from "./lists/mcp.ts"
import { oauth } from "./lists/oauth.ts"
import { operations } from "./lists/operations.ts"
import { protection } from "./lists/protection.ts"
import { transport } from "./lists/transport.ts"
import { watching } from "./lists/watching.ts"
import { wire } from "./lists/wire.ts"
import type { Mutant } from "./mutant.ts"

export const mutants: ReadonlyArray<Mutant> = [
  domain,
  protection,
  watching,
  operations,
  oauth,
  transport,
  http,
  mcp,
  layers,
  database,
  wire,
  cli
].flatMap((byFile) => Object.entries(byFile).flatMap(([file, listed]) => listed.map((mutant) => ({ file, ...mutant }))))
