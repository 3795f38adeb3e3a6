/** Writers of JSON, compiled from the type of an answer: what the type knows and nothing else, in its order. */
import { Predicate, Schema, SchemaAST } from "effect"
import * as Iso from "./InstantText.ts"

/** Writes a value as JSON; throws where it is not of the type. */
export type Writer = (value: unknown) => string

const dates = SchemaAST.isDeclaration(Schema.Date.ast) ? Schema.Date.ast.run : undefined

const wrong = (expected: string): never => {
  throw new TypeError(`An answer is not of its schema: expected ${expected}.`)
}

/** Up to this many code units are checked one by one; longer texts are left to JSON.stringify. */
const short = 64

/** True if JSON writes the text as it is, in quotes: no quote, backslash, control character or surrogate. */
const isPlain = (text: string): boolean => {
  for (let at = 0; at < text.length; at++) {
    const code = text.charCodeAt(at)
    if (code < 0x20 || code === 0x22 || code === 0x5c || (code >= 0xd800 && code <= 0xdfff)) return false
  }
  return true
}

const writeText: Writer = (value) => {
  if (typeof value !== "string") return wrong("a text")
  return value.length <= short && isPlain(value) ? `"${value}"` : JSON.stringify(value)
}

const writeNumber: Writer = (value) =>
  typeof value === "number" && Number.isFinite(value) ? `${value}` : wrong("a finite number")

const writeBoolean: Writer = (value) => value === true ? "true" : value === false ? "false" : wrong("true or false")

const writeDate: Writer = (value) => {
  if (!(value instanceof Date)) return wrong("a date")
  return Number.isNaN(value.getTime()) ? "null" : `"${Iso.format(value)}"`
}

const literals = (texts: ReadonlyMap<unknown, string>): Writer => (value) =>
  texts.get(value) ?? wrong(`one of ${[...texts.values()].join(", ")}`)

const array = (item: Writer): Writer => (value) => {
  if (!Array.isArray(value)) return wrong("a list")
  let text = "["
  for (let at = 0; at < value.length; at++) text += at === 0 ? item(value[at]) : `,${item(value[at])}`
  return `${text}]`
}

interface Member {
  readonly name: string
  /** The name as it is written, with the text before and after it. */
  readonly first: string
  readonly next: string
  readonly write: Writer
  readonly optional: boolean
}

const struct = (members: ReadonlyArray<Member>): Writer => (value) => {
  if (!Predicate.isObject(value)) return wrong("an object")
  let text = ""
  for (const { first, name, next, optional, write } of members) {
    const member = value[name]
    if (optional && member === undefined) continue
    text += text === "" ? first + write(member) : next + write(member)
  }
  return text === "" ? "{}" : `${text}}`
}

const record = (item: Writer): Writer => (value) => {
  if (!Predicate.isObject(value)) return wrong("an object")
  let text = ""
  for (const name of Object.keys(value)) {
    const written = item(value[name])
    if (written !== "") text += `${text === "" ? "{" : ","}${writeText(name)}:${written}`
  }
  return text === "" ? "{}" : `${text}}`
}

/** The mark of a member of a union that no other has; undefined if it is not so simple. */
const kindOf = (ast: SchemaAST.AST): string | undefined => {
  switch (ast._tag) {
    case "String":
      return "string"
    case "Number":
      return "number"
    case "Boolean":
      return "boolean"
    case "Objects":
    case "Arrays":
    case "Declaration":
      return "object"
    default:
      return undefined
  }
}

const membersOf = (ast: SchemaAST.AST): ReadonlyArray<SchemaAST.AST> =>
  ast._tag === "Union" ? ast.types.flatMap(membersOf) : [ast]

const literalOf = (ast: SchemaAST.AST): string | number | boolean | null | undefined =>
  ast._tag === "Null" ? null : ast._tag === "Literal" && typeof ast.literal !== "bigint" ? ast.literal : undefined

const union = (ast: SchemaAST.AST): Writer | undefined => {
  const texts = new Map<unknown, string>()
  const kinds = new Map<string, Writer>()
  for (const member of membersOf(ast)) {
    const literal = literalOf(member)
    if (literal !== undefined) {
      texts.set(literal, JSON.stringify(literal))
      continue
    }
    const kind = kindOf(member)
    const write = compile(member)
    if (kind === undefined || write === undefined || kinds.has(kind)) return undefined
    kinds.set(kind, write)
  }
  const [only] = kinds.values()
  if (only === undefined) return literals(texts)
  if (kinds.size === 1 && texts.size === 1 && texts.has(null)) {
    return (value) => value === null ? "null" : only(value)
  }
  return (value) => texts.get(value) ?? kinds.get(typeof value)?.(value) ?? wrong("another value")
}

const objects = ({ indexSignatures, propertySignatures }: SchemaAST.Objects): Writer | undefined => {
  const [index, ...more] = indexSignatures
  if (index !== undefined) {
    // Any value of JSON is written as it is, and what is none is left out.
    const item: Writer | undefined = SchemaAST.isUnknown(index.type)
      ? (value) => JSON.stringify(value) ?? ""
      : compile(index.type)
    const isPlainRecord = propertySignatures.length + more.length === 0 && SchemaAST.isString(index.parameter)
    return item === undefined || !isPlainRecord ? undefined : record(item)
  }
  const members: Array<Member> = []
  for (const { name, type } of propertySignatures) {
    const write = compile(type)
    if (typeof name !== "string" || write === undefined) return undefined
    const head = `${JSON.stringify(name)}:`
    members.push({ name, first: `{${head}`, next: `,${head}`, write, optional: type.context?.isOptional === true })
  }
  return struct(members)
}

/** The writer of the type, where JSON has its values as they are but for dates; undefined for any other. */
export const compile = (ast: SchemaAST.AST): Writer | undefined => {
  switch (ast._tag) {
    case "String":
      return writeText
    case "Number":
      return writeNumber
    case "Boolean":
      return writeBoolean
    case "Null":
    case "Literal":
    case "Union":
      return union(ast)
    case "Objects":
      return objects(ast)
    case "Arrays": {
      const [rest, ...more] = ast.rest
      const item = rest === undefined || ast.elements.length + more.length > 0 ? undefined : compile(rest)
      return item === undefined ? undefined : array(item)
    }
    case "Declaration":
      return ast.run === dates ? writeDate : undefined
    default:
      return undefined
  }
}
