/** The description of each input member, for the document and the tools, taken from its declaration. */
import { Predicate, Schema } from "effect"

/** The meaning of the member for a caller: the description of its key. */
export const descriptionOf = (member: Schema.Top): string | undefined => {
  const description = member.ast.context?.annotations?.["description"]
  return typeof description === "string" ? description : undefined
}

/** The JSON Schema of the member on the wire, with the schemas that it refers to. */
export const jsonSchema = (member: Schema.Top) =>
  Schema.toJsonSchemaDocument(Schema.toEncoded(member), { onExcessProperty: "error" })

/** The names of the members that a caller may not leave out. */
export const required = (members: Readonly<Record<string, Schema.Top>>): ReadonlyArray<string> =>
  Object.entries(members).flatMap(([name, { ast }]) => ast.context?.isOptional === true ? [] : [name])

const isOnlyDescription = (value: unknown): value is { readonly description: string } =>
  Predicate.isObject(value) && Object.keys(value).length === 1 && Predicate.hasProperty(value, "description")

/**
 * The JSON Schema with the meaning of its members next to their types, where it is derived in `allOf`; or without it.
 */
export const lifted = (value: unknown, keep: boolean): unknown => {
  if (Array.isArray(value)) return value.map((part) => lifted(part, keep))
  if (!Predicate.isObject(value)) return value
  const { allOf, ...rest } = Object.fromEntries(Object.entries(value).map(([name, part]) => [name, lifted(part, keep)]))
  if (!Array.isArray(allOf)) return allOf === undefined ? rest : { ...rest, allOf }
  const [meaning, ...meanings] = allOf.filter(isOnlyDescription)
  const [only, ...others] = allOf.filter((part) => !isOnlyDescription(part))
  if (meaning === undefined || meanings.length > 0 || others.length > 0) return { ...rest, allOf }
  return { ...rest, ...only, ...(keep ? meaning : {}) }
}
