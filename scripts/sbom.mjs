import { execFileSync } from "node:child_process"
import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"

/**
 * Writes what the package consists of (CycloneDX), from the lock file: the same file for the same lock file.
 *
 * `npm sbom --omit dev` leaves out what another package needs as a peer, `effect` among them; here npm is given a lock
 * file that holds nothing for development.
 */
const [target = "sbom.cdx.json"] = process.argv.slice(2)
const read = (file) => JSON.parse(readFileSync(new URL(`../${file}`, import.meta.url), "utf8"))
const manifest = read("package.json")
delete manifest.devDependencies
const lock = read("package-lock.json")
const packages = Object.fromEntries(
  Object.entries(lock.packages).filter(([, { dev, devOptional }]) => !dev && !devOptional)
)
delete packages[""].devDependencies
for (const name of read("scripts/copied.json")) {
  const { dependencies, peerDependencies, ...entry } = lock.packages[`node_modules/${name}`]
  delete entry.dev
  const isThere = ([needed]) => packages[`node_modules/${needed}`] !== undefined
  const kept = (needed = {}) => Object.fromEntries(Object.entries(needed).filter(isThere))
  packages[`node_modules/${name}`] = {
    ...entry,
    dependencies: kept(dependencies),
    peerDependencies: kept(peerDependencies)
  }
  manifest.dependencies[name] = entry.version
  packages[""].dependencies[name] = entry.version
}

const scratch = mkdtempSync(join(tmpdir(), "sbom-"))
try {
  // npm names the component after the directory.
  const folder = join(scratch, manifest.name)
  mkdirSync(folder)
  writeFileSync(join(folder, "package.json"), JSON.stringify(manifest))
  writeFileSync(join(folder, "package-lock.json"), JSON.stringify({ ...lock, packages }))
  const printed = execFileSync(
    "npm",
    ["sbom", "--sbom-format", "cyclonedx", "--package-lock-only", "--loglevel=error"],
    {
      cwd: folder,
      encoding: "utf8",
      maxBuffer: 64 << 20,
      shell: process.platform === "win32"
    }
  )
  const sbom = JSON.parse(printed)
  delete sbom.serialNumber
  delete sbom.metadata.timestamp
  delete sbom.metadata.tools
  writeFileSync(target, `${JSON.stringify(sbom, null, 2)}\n`)
} finally {
  rmSync(scratch, { recursive: true })
}
