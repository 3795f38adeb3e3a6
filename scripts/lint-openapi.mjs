import { spawnSync } from "node:child_process"
import { fileURLToPath } from "node:url"

/** Lints the OpenAPI document; a warning fails like an error. */
const redocly = fileURLToPath(new URL("../node_modules/.bin/redocly", import.meta.url))
const { status, stderr, stdout } = spawnSync(redocly, ["lint", "openapi.json", "--format=json"], {
  encoding: "utf8",
  env: { ...process.env, REDOCLY_TELEMETRY: "off", REDOCLY_SUPPRESS_UPDATE_NOTICE: "true" },
  maxBuffer: 64 << 20
})
const report = stdout.startsWith("{")
  ? JSON.parse(stdout)
  : { problems: [{ ruleId: "none", message: stdout + stderr }] }
for (const { location, message, ruleId, severity } of report.problems) {
  console.error(`${severity} ${ruleId} at ${location?.[0]?.pointer ?? "the document"}: ${message}`)
}
console.log(`openapi.json: ${report.problems.length} problems`)
process.exitCode = status === 0 && report.problems.length === 0 ? 0 : 1
