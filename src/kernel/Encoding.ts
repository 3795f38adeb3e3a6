/** How an operation's answer becomes what JSON.stringify writes. */
import { Effect, Schema, SchemaAST } from "effect"

const dates = SchemaAST.isDeclaration(Schema.Date.ast) ? Schema.Date.ast.run : undefined

/** Whether JSON.stringify writes each value of the type as its schema encodes it; of what is declared, dates alone. */
const isPlain = (ast: SchemaAST.AST): boolean => {
  switch (ast._tag) {
    case "String":
    case "Number":
    case "Boolean":
    case "Null":
    case "Literal":
    case "Unknown":
      return true
    case "Arrays":
      return [...ast.elements, ...ast.rest].every(isPlain)
    case "Objects":
      return [...ast.propertySignatures, ...ast.indexSignatures].every(({ type }) => isPlain(type))
    case "Union":
      return ast.types.every(isPlain)
    case "Declaration":
      return ast.run === dates
    default:
      return false
  }
}

/**
 * The answer with what its schema knows and nothing else; one that is not of the schema is a defect.
 *
 * Where JSON.stringify writes the type's values as they are, they only have to be checked: that costs a fifth of
 * encoding them one by one.
 */
export const encoder = (success: Schema.Codec<unknown, unknown>): (answer: unknown) => Effect.Effect<unknown> => {
  const type = Schema.toType(success)
  const encode = isPlain(type.ast)
    ? Schema.decodeUnknownEffect(type)
    : Schema.encodeUnknownEffect(Schema.toCodecJson(success))
  return (answer) => Effect.orDie(encode(answer))
}
