/** Facts that no test has to name yet, each with the reason why; there are none. */
export const exclusions: Readonly<Record<string, string>> = {}

/** Facts in scope that are left unproved, each with its reason. */
export const exceptions: Readonly<Record<string, string>> = {
  "S2.9-03": "the service sends neither codes for signing in nor invoices, so that no choice can hold them back"
}
