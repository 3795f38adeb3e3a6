/** What of the archive is sealed under which key: constructions of suite 1 over the primitives of `ArchiveCrypto`. */
import type { ArchiveCrypto, PasswordDerivation } from "../ports/archive/ArchiveCrypto.ts"

export * from "./EpochKeys.ts"
export * from "./Frames.ts"
export * from "./KeyWraps.ts"

/** What sealing needs; only wraps by password need the derivation. */
export type Services = ArchiveCrypto | PasswordDerivation
