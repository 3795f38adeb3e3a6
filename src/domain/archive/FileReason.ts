/** The reasons for which files are not saved. */

/** `rule`, `size`: the rules leave it out. `protected`: its chat asks not to save from it. `once`: it is shown once. */
export type SkipReason = "rule" | "size" | "protected" | "once"

/** `gone`: the messenger has it no more. `refused`: it could not be read in several nights. */
export type FailureReason = "gone" | "refused"
