#!/usr/bin/env node
/** Where the program starts: it answers before the program itself is loaded, which takes a second or two. */
import { version } from "./PackageFiles.ts"

if (process.argv[2] === "serve" && !process.argv.some((word) => word === "--help" || word === "-h")) {
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
