/**
 * `npm start`: the demo, in a directory of its own. Of the environment only what says how to listen and to log counts:
 * the demo never touches a real database.
 */
import "./check-node.mjs"

const kept = /^CONSOLE_(?:HOST|PORT|LOG_\w+)$/
for (const name of Object.keys(process.env)) {
  if (name.startsWith("CONSOLE_") && !kept.test(name)) delete process.env[name]
}

process.argv.splice(2, 0, "serve", "--demo")
await import("../src/cli/main.ts")
