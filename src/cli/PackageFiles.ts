/** Files of the package that the program reads. This module is as far below the root as the bundle in `dist/cli`. */
import { createRequire } from "node:module"

const manifest: { readonly version: string } = createRequire(import.meta.url)("../../package.json")

/** The package's version. */
export const { version } = manifest

/** The organization, admins and people of the demo. */
export const demoSeed = new URL("../../seeds/demo.json", import.meta.url)
