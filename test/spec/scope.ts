/** Facts that no test has to name yet, each with the reason why; there are none. */
export const exclusions: Readonly<Record<string, string>> = {}

const protection =
  "the sweep that reviews sessions and signs them out does not exist yet; this service only reads its facts"

/** Facts in scope that are left unproved, each with its reason. */
export const exceptions: Readonly<Record<string, string>> = {
  "S2.2-17": protection,
  "S2.2-18": protection,
  "S2.3-29": protection,
  "S2.4-09": protection,
  "S2.9-03":
    "no email is sent yet, so that none can go out whatever is chosen; the choices are exactly those of S2.9-02",
  "S3.1-09": protection,
  "S3.2-02": protection,
  "S3.2-04": protection
}
