/** What the document and the tools say of each member that an operation takes; it is written where it is declared. */
import { Schema } from "effect"

/** What the member means to a caller: the description of its key. */
export const descriptionOf = (member: Schema.Top): string | undefined => {
  const description = member.ast.context?.annotations?.["description"]
  return typeof description === "string" ? description : undefined
}

/** The JSON Schema of what the member looks like on the wire, with the schemas that it refers to. */
export const jsonSchema = (member: Schema.Top) => Schema.toJsonSchemaDocument(Schema.toEncoded(member))

/** The names of the members that a caller may not leave out. */
export const required = (members: Readonly<Record<string, Schema.Top>>): ReadonlyArray<string> =>
  Object.entries(members).flatMap(([name, { ast }]) => ast.context?.isOptional === true ? [] : [name])
