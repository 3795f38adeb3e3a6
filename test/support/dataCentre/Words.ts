/** Reads and writes the messenger's objects by the schema that the library ships. */
import { __tlWriterMap, TlBinaryReader, TlBinaryWriter, TlSerializationCounter } from "@mtcute/core/utils.js"
import { createRequire } from "node:module"

const require = createRequire(import.meta.url)

interface Argument {
  readonly name: string
  readonly type: string
  readonly typeModifiers?: { readonly predicate?: string; readonly isVector?: boolean; readonly isBareVector?: boolean }
}

interface Definition {
  readonly kind: "class" | "method"
  readonly name: string
  readonly id: number
  readonly arguments?: ReadonlyArray<Argument>
}

/** An object or a request, with its members by their names. */
export interface Word {
  readonly _: string
  readonly [member: string]: any
}

const api: { readonly e: ReadonlyArray<Definition> } = require("@mtcute/core/tl/api-schema.json")
const transport: ReadonlyArray<Definition> = require("@mtcute/core/tl/mtp-schema.json")
const definitions = new Map([...api.e, ...transport].map((one) => [one.id, one]))

const vectorId = 0x1cb5c415

const camel = (name: string): string => name.replaceAll(/_(\w)/g, (_, letter: string) => letter.toUpperCase())

const readers: Readonly<Record<string, (reader: TlBinaryReader) => unknown>> = {
  int: (reader) => reader.int(),
  int53: (reader) => reader.int53(),
  long: (reader) => reader.long(),
  double: (reader) => reader.double(),
  string: (reader) => reader.string(),
  bytes: (reader) => reader.bytes(),
  int128: (reader) => reader.int128(),
  int256: (reader) => reader.int256(),
  Bool: (reader) => reader.boolean()
}

const readValue = (reader: TlBinaryReader, { type, typeModifiers }: Argument): unknown => {
  const one = readers[type] ?? readWord
  if (typeModifiers?.isVector !== true && typeModifiers?.isBareVector !== true) return one(reader)
  if (typeModifiers.isVector === true && reader.uint() !== vectorId) throw new Error("This is no vector")
  return Array.from({ length: reader.uint() }, () => one(reader))
}

/** The next object or request. */
const readWord = (reader: TlBinaryReader): Word => {
  const id = reader.uint()
  const definition = definitions.get(id)
  if (definition === undefined) throw new Error(`There is nothing of the id ${id.toString(16)}`)
  const members: Record<string, unknown> = {}
  for (const argument of definition.arguments ?? []) {
    if (argument.type === "#") {
      members[argument.name] = reader.uint()
      continue
    }
    const [flags = "", bit = "0"] = argument.typeModifiers?.predicate?.split(".") ?? []
    if (flags !== "" && (Number(members[flags]) >>> Number(bit) & 1) === 0) continue
    members[camel(argument.name)] = argument.type === "true" ? true : readValue(reader, argument)
  }
  return { ...members, _: definition.name }
}

export const read = (bytes: Uint8Array): Word => readWord(new TlBinaryReader(undefined, bytes))

/** An object in bytes; its members as the library's types have them. */
export const write = (word: Word): Uint8Array => TlBinaryWriter.serializeObject(__tlWriterMap, word)

/** The answer to a request: an object, a list, a number or a truth. */
export const writeAnswer = (answer: Word | ReadonlyArray<Word> | boolean): Uint8Array => {
  if (typeof answer === "boolean") {
    const writer = TlBinaryWriter.alloc(__tlWriterMap, 4)
    writer.boolean(answer)
    return writer.result()
  }
  if (!Array.isArray(answer)) return write(answer as Word)
  const size = answer.reduce((sum, one) => sum + TlSerializationCounter.countNeededBytes(__tlWriterMap, one), 8)
  const writer = TlBinaryWriter.alloc(__tlWriterMap, size)
  writer.uint(vectorId)
  writer.uint(answer.length)
  for (const one of answer) writer.object(one)
  return writer.result()
}
