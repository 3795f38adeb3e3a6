/** The reasons for which files are not saved. */
import { Schema } from "effect"

/** `rule`, `size`: the rules leave it out. `protected`: its chat asks not to save from it. `once`: it is shown once. */
export const SkipReason = Schema.Literals(["rule", "size", "protected", "once"])
export type SkipReason = typeof SkipReason.Type

/** `gone`: the messenger has it no more. `refused`: it could not be read in several nights. */
const FailureReason = Schema.Literals(["gone", "refused"])
export type FailureReason = typeof FailureReason.Type

export const FileReason = Schema.Literals([...SkipReason.literals, ...FailureReason.literals])
export type FileReason = typeof FileReason.Type
