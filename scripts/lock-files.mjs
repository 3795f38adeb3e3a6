import { readFileSync } from "node:fs"
import { join } from "node:path"

/** Fails unless every locked package has a digest, and none an address: the registry is the installer's choice. */
const [root = "."] = process.argv.slice(2)
const files = ["package-lock.json", "tools/package-lock.json"]

const faults = ({ integrity, resolved }) => [
  ...(/^sha512-[A-Za-z0-9+/]{86}==$/.test(integrity ?? "") ? [] : ["has no SHA-512 digest in `integrity`"]),
  ...(resolved === undefined ? [] : [`is bound to ${resolved}`])
]

for (const file of files) {
  const { packages } = JSON.parse(readFileSync(join(root, file), "utf8"))
  const fetched = Object.entries(packages).filter(([path, { inBundle, link }]) => path !== "" && !inBundle && !link)
  const found = fetched.flatMap(([path, locked]) => faults(locked).map((fault) => `${file}: ${path} ${fault}`))
  if (fetched.length === 0) found.push(`${file}: locks no package`)
  for (const fault of found) console.error(fault)
  if (found.length > 0) process.exitCode = 1
  console.log(`${file}: ${fetched.length} packages, ${found.length} faults`)
}
