#!/usr/bin/env node
/** The start of the program: it answers before the program itself is loaded, which takes a second or two. */
import { version } from "./PackageFiles.ts"
import { startWithFlags } from "./process/NodeFlags.ts"

const command = process.argv.some((word) => word === "--help" || word === "-h") ? undefined : process.argv[2]

// Other commands end too soon to be worth a second start.
if (command === "serve" || command === "mcp") startWithFlags(import.meta.filename)

if (command === "serve") {
  console.log(`Starting Organization Security Console ${version} ...`)
}

// A signal to npm ends the shell between npm and this process without notice: this process checks for it.
if (["start", "cli"].includes(process.env["npm_lifecycle_event"] ?? "")) {
  const parent = process.ppid
  setInterval(() => {
    if (process.ppid !== parent) process.kill(process.pid, "SIGTERM")
  }, 200).unref()
}

const { start } = await import("./Program.ts")
start()
