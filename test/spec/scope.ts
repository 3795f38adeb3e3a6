/** Facts that no test has to name yet, each with the reason why; there are none. */
export const exclusions: Readonly<Record<string, string>> = {}

/** Facts in scope that are left unproved, each with its reason; there are none. */
export const exceptions: Readonly<Record<string, string>> = {}
