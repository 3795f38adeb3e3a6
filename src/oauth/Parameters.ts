/** The parameters of a request to the authorization server, and which of them are given twice. */

export interface Parameters {
  /** The value; undefined when the parameter is missing or empty, which is the same (RFC 6749, section 3.1). */
  get(name: string): string | undefined
  all(name: string): ReadonlyArray<string>
  /** The names that are given more than once. */
  readonly repeated: ReadonlyArray<string>
}

/** Reads `application/x-www-form-urlencoded` text. */
export const parse = (text: string): Parameters => {
  const members = new URLSearchParams(text)
  const names = [...members.keys()]
  return {
    get: (name) => members.get(name) || undefined,
    all: (name) => members.getAll(name).filter((value) => value !== ""),
    repeated: [...new Set(names.filter((name, at) => names.indexOf(name) !== at))]
  }
}

/** The address with further members of its query. The address is kept as it is, character by character. */
export const append = (address: string, members: Readonly<Record<string, string | undefined>>): string => {
  const query = new URLSearchParams()
  for (const [name, value] of Object.entries(members)) {
    if (value !== undefined) query.append(name, value)
  }
  return `${address}${address.includes("?") ? (/[?&]$/.test(address) ? "" : "&") : "?"}${query}`
}
