/** Guards of parsed JSON: a page can hold anything that its writer sealed. */

export type JsonObject = Readonly<Record<string, unknown>>

export const isObject = (value: unknown): value is JsonObject =>
  typeof value === "object" && value !== null && !Array.isArray(value)

/** Columns begin with `n`, the number of records. */
export const isColumns = (value: unknown): value is JsonObject & { readonly n: number } =>
  isObject(value) && typeof value["n"] === "number" && Number.isSafeInteger(value["n"]) && value["n"] >= 0

export const isListOf = <A>(value: unknown, length: number, isItem: (item: unknown) => item is A): value is Array<A> =>
  Array.isArray(value) && value.length === length && value.every(isItem)

export const isWhole = (value: unknown): value is number => Number.isSafeInteger(value)

/** A difference of ids: a number, or decimal text where a number would not be exact. */
export const isDifference = (value: unknown): value is number | string =>
  isWhole(value) || typeof value === "string" && /^-?\d{1,19}$/.test(value)
