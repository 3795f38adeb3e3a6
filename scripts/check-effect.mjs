import { spawnSync } from "node:child_process"
import { fileURLToPath } from "node:url"

/** The package of the second compiler exists for this platform alone. */
const platform = "linux-x64"

if (`${process.platform}-${process.arch}` !== platform && process.env.CI === undefined) {
  console.log(`Effect's diagnostics were not checked: their compiler runs on ${platform} only.`)
} else {
  const tools = new URL("../tools/", import.meta.url)
  const compiler = fileURLToPath(new URL(`node_modules/@effect/tsgo-${platform}/lib/tsc`, tools))
  // Each checker resolves the types that all sources share: by default there are four of them.
  const { error, status } = spawnSync(compiler, ["--noEmit", "-p", fileURLToPath(tools), "--checkers", "2"], {
    stdio: "inherit"
  })
  if (error !== undefined) console.error(`${error.message}: run \`npm ci --prefix tools\` first.`)
  process.exitCode = status ?? 1
}
