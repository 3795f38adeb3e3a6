/** The types or encodings that a client takes, by a header such as `Accept` or `Accept-Encoding`. */

/** True if the header names one of these, and not with a weight of zero. */
export const accepts = (header: string, names: ReadonlyArray<string>): boolean =>
  header.split(",").some((part) => {
    const [name = "", ...params] = part.split(";").map((text) => text.trim().toLowerCase())
    return names.includes(name) && !params.some((param) => /^q=0(?:\.0*)?$/.test(param))
  })
