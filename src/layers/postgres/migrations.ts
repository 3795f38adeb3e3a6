/** The migrations after the tables of `schema/`, by name, in order. */
import type { Migrations } from "./Migrate.ts"

export const migrations: Migrations = {}
