/** The commands that print what is generated from the program. */
import { Console } from "effect"
import { Command } from "effect/cli"
import * as Documents from "../../http/OpenApiDocument.ts"
import * as SeedSchema from "../../layers/seed/SeedSchema.ts"
import * as Settings from "../settings/Settings.ts"

/** Prints the OpenAPI document. */
export const openapi = Command.make("openapi", {}, () => Console.log(JSON.stringify(Documents.make(), null, 2)))

/** Prints the schema of seed files. */
export const seedSchema = Command.make(
  "seed-schema",
  {},
  () => Console.log(JSON.stringify(SeedSchema.make(), null, 2))
)

/** Prints the table of settings. */
export const settings = Command.make("settings", {}, () => Console.log(Settings.markdown()))
