/**
 * Bundles the scripts of the archive's pages in browsers: the viewer's and those of the archive password's page, each a
 * script for the page and one for its worker, and that of an export's page. Run as a program, it writes them into folders of `dist`; the service that
 * runs from the sources calls `bundleOf` at the first request.
 */
import { copyFileSync, mkdirSync, writeFileSync } from "node:fs"
import { join } from "node:path"
import { fileURLToPath } from "node:url"
import { rolldown } from "rolldown"

const root = fileURLToPath(new URL("..", import.meta.url))

/** The scripts by name, with the module that each begins with. */
const entries = {
  page: "page/main.ts",
  worker: "worker/main.ts",
  "key-page": "key/KeyPage.ts",
  "key-worker": "key/KeyWorker.ts",
  download: "download/DownloadPage.ts"
}

/** The text of a script. */
export const bundleOf = async (name) => {
  const made = await rolldown({
    cwd: root,
    input: join(root, "src/viewer", entries[name]),
    platform: "browser",
    // Schemas that are declared and not used would stay otherwise.
    treeshake: { moduleSideEffects: false },
    onLog: (_level, log) => {
      throw new Error(log.message)
    }
  })
  const { output } = await made.generate({ format: "iife", minify: true, codeSplitting: false })
  await made.close()
  return output[0].code
}

/** Beside the modules that read them: those of the library, and the program. */
const targets = ["dist/http/pages/archive/viewer", "dist/cli/viewer"]

if (process.argv[1] === fileURLToPath(import.meta.url)) {
  for (const target of targets) mkdirSync(join(root, target), { recursive: true })
  for (const name of Object.keys(entries)) {
    const script = await bundleOf(name)
    for (const target of targets) writeFileSync(join(root, target, `${name}.js`), script)
  }
  for (const target of targets) {
    // The one package in them that the program's own bundle does not have.
    copyFileSync(join(root, "node_modules/hash-wasm/LICENSE"), join(root, target, "LICENSE-hash-wasm"))
  }
}
