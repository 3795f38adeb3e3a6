/** The program that tests start. */
import * as path from "node:path"
import { nodeFlags } from "../../../src/cli/process/NodeFlags.ts"

export const root = path.join(import.meta.dirname, "../../..")

/** The program as a run of the tests has built it; the sources where nobody has. */
export const main = process.env["TEST_PROGRAM"] ?? path.join(root, "src/cli/main.ts")

const compiled = process.env["TEST_COMPILED"]

// Processes that a test starts keep their compiled code for the next ones. A fork of vitest, which has started by now,
// does not: writing that of all modules at its end would take it a second, for nobody.
if (compiled !== undefined) process.env["NODE_COMPILE_CACHE"] = compiled

/**
 * The flags of Node that a test starts the program with: its own, for which it would start again, and others, because
 * what lives for seconds spends half of its processor's time on code that is faster in minutes, and a tenth on growing
 * the place for what is new.
 */
export const flags = [...nodeFlags, "--min-semi-space-size=16", "--single-threaded", "--liftoff-only"]
