import { createRequire } from "node:module"

const manifest: { readonly version: string } = createRequire(import.meta.url)("../../../package.json")

/** The package's version. */
export const { version } = manifest
