import { readFileSync } from "fs"

const { engines } = JSON.parse(readFileSync(new URL("../package.json", import.meta.url), "utf8"))
const parts = (version) => version.replace(/[^0-9.]/g, "").split(".").map(Number)
const [major, minor] = parts(process.versions.node)
const [leastMajor, leastMinor] = parts(engines.node)

if (major < leastMajor || (major === leastMajor && minor < leastMinor)) {
  console.error(`Node ${engines.node} is needed, but this is Node ${process.versions.node} (${process.execPath}).`)
  process.exit(1)
}
