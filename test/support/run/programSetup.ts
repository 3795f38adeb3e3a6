/** Builds the program of this run from its sources, which takes a second and saves one at each start of a process. */
import * as childProcess from "node:child_process"
import * as fs from "node:fs"
import * as os from "node:os"
import * as path from "node:path"
import { promisify } from "node:util"
import type { TestProject } from "vitest/node"
import { root } from "./program.ts"

const execFile = promisify(childProcess.execFile)

/** What the program looks for beside itself. */
const beside = ["package.json", "seeds", "node_modules"]

export default async function setup(project: TestProject): Promise<() => void> {
  const folder = fs.mkdtempSync(path.join(os.tmpdir(), "program-"))
  for (const name of beside) fs.symlinkSync(path.join(root, name), path.join(folder, name))
  const build = () => execFile(process.execPath, [path.join(root, "scripts/bundle.mjs"), folder], { cwd: root })
  await build()
  project.onTestsRerun(async () => void await build())
  // Each fork has them from here.
  process.env["TEST_PROGRAM"] = path.join(folder, "dist/cli/main.js")
  process.env["TEST_COMPILED"] = path.join(folder, "compiled")
  // A process that has just ended may still store code there.
  return () => fs.rmSync(folder, { recursive: true, force: true, maxRetries: 10 })
}
