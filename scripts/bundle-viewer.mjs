/**
 * Bundles the archive's viewer, a script for its page and one for its worker. Run as a program, it writes them into
 * folders of `dist`; the service that runs from the sources calls `bundle` at the first request.
 */
import { copyFileSync, mkdirSync, writeFileSync } from "node:fs"
import { join } from "node:path"
import { fileURLToPath } from "node:url"
import { rolldown } from "rolldown"

const root = fileURLToPath(new URL("..", import.meta.url))

const bundleOf = async (entry) => {
  const made = await rolldown({
    cwd: root,
    input: join(root, "src/viewer", entry),
    platform: "browser",
    // Schemas that are declared and not used would stay otherwise.
    treeshake: { moduleSideEffects: false },
    onLog: (_level, log) => {
      throw new Error(log.message)
    }
  })
  const { output } = await made.generate({ format: "iife", minify: true, codeSplitting: false })
  await made.close()
  return { script: output[0].code, modules: output.flatMap(({ modules }) => Object.keys(modules)) }
}

/** The text of both scripts, and the modules that they are made of. */
export const bundle = async () => {
  const [page, worker] = await Promise.all([bundleOf("page/main.ts"), bundleOf("worker/main.ts")])
  return { page: page.script, worker: worker.script, modules: [...page.modules, ...worker.modules] }
}

/** Beside the modules that read them: those of the library, and the program. */
const targets = ["dist/http/pages/archive/viewer", "dist/cli/viewer"]

if (process.argv[1] === fileURLToPath(import.meta.url)) {
  const { page, worker } = await bundle()
  for (const target of targets) {
    const folder = join(root, target)
    mkdirSync(folder, { recursive: true })
    writeFileSync(join(folder, "page.js"), page)
    writeFileSync(join(folder, "worker.js"), worker)
    // The one package in them that the program's own bundle does not have.
    copyFileSync(join(root, "node_modules/hash-wasm/LICENSE"), join(folder, "LICENSE-hash-wasm"))
  }
}
