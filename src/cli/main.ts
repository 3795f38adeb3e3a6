#!/usr/bin/env node
/** Where the program starts: it answers before the program itself is loaded, which takes a second or two. */
import { version } from "./Version.ts"

if (process.argv[2] === "serve" && !process.argv.some((word) => word === "--help" || word === "-h")) {
  console.log(`Starting Organization Security Console ${version} ...`)
}

const { start } = await import("./Program.ts")
start()
