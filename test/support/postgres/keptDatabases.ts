/** The migrated databases, kept from run to run for as long as nothing changes that they are made from. */
import * as crypto from "node:crypto"
import * as fs from "node:fs"
import * as path from "node:path"
import { root } from "../run/program.ts"
import type { Pristine } from "./pristine.ts"

/** What is known of one of them. */
export interface Described {
  readonly name: string
  readonly pristine: Pristine
}

/** What is known of the files. */
export interface Made {
  /** Of the roles of PostgreSQL. */
  readonly password: string
  readonly postgres: Described
  readonly pglite: Described
}

/** Where the files are in the folder. */
export const within = (folder: string) => ({
  /** Those of a stopped PostgreSQL with the roles and the template. */
  cluster: path.join(folder, "cluster"),
  /** Those of a migrated PGlite that is closed. */
  directory: path.join(folder, "database")
})

const place = path.join(root, "node_modules/.cache/databases")

/** What the databases are made from. */
const sources = [
  "src/layers/{postgres,sql}/**/*.{ts,sql}",
  "test/support/postgres/{database,kept,pristine}*.ts",
  "package-lock.json"
]

/** Another one where anything of that is another. */
const keyNow = (): string => {
  const hash = crypto.createHash("sha256").update(`${process.version} ${process.arch} ${process.getuid?.()}`)
  for (const file of fs.globSync(sources, { cwd: root }).toSorted()) {
    hash.update(`\n${file}\n`).update(fs.readFileSync(path.join(root, file)))
  }
  return hash.digest("hex").slice(0, 32)
}

const day = 24 * 60 * 60 * 1000

/** Removes what no run has begun with for a day. */
const removeStale = () => {
  for (const name of fs.readdirSync(place)) {
    const folder = path.join(place, name)
    const used = fs.statSync(folder, { throwIfNoEntry: false })?.mtimeMs ?? 0
    if (used < Date.now() - day) fs.rmSync(folder, { recursive: true, force: true })
  }
}

/** The folder with the files of now, which are made where there are none. */
export const findOrMake = async (
  make: (folder: string) => Promise<Made>
): Promise<{ readonly folder: string; readonly made: Made }> => {
  fs.mkdirSync(place, { recursive: true })
  const folder = path.join(place, keyNow())
  const file = "made.json"
  if (!fs.existsSync(path.join(folder, file))) {
    const draft = fs.mkdtempSync(path.join(place, "draft-"))
    try {
      fs.writeFileSync(path.join(draft, file), JSON.stringify(await make(draft)), { mode: 0o600 })
      // Another run may have been faster, and its files are as good.
      if (!fs.existsSync(folder)) fs.renameSync(draft, folder)
    } finally {
      fs.rmSync(draft, { recursive: true, force: true })
    }
  }
  fs.utimesSync(folder, new Date(), new Date())
  removeStale()
  return { folder, made: JSON.parse(fs.readFileSync(path.join(folder, file), "utf8")) }
}
