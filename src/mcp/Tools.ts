/** Every operation as a tool, read from its declaration. */
import type { Tool } from "@modelcontextprotocol/server"
import { Effect, Predicate, Schema } from "effect"
import { type Caller, readsSealed } from "../domain/people/Access.ts"
import { isBeyond } from "../kernel/Admission.ts"
import * as InputMembers from "../kernel/InputMembers.ts"
import * as Operation from "../kernel/Operation.ts"
import { operations, ServedOperations } from "../operations/index.ts"
import * as Arguments from "./Arguments.ts"

type Json = Readonly<Record<string, unknown>>

const isJsonObject = (value: unknown): value is Json => Predicate.isObject(value)

/** The bounds of what JSON carries exactly say nothing to a reader. */
const isSafeBound = (name: string, value: unknown): boolean =>
  (name === "minimum" && value === Number.MIN_SAFE_INTEGER) || (name === "maximum" && value === Number.MAX_SAFE_INTEGER)

/** The schema with what its references point at in their place: clients do not follow them alike. */
const inline = (definitions: Json, value: unknown): unknown => {
  if (Array.isArray(value)) return value.map((item) => inline(definitions, item))
  if (!isJsonObject(value)) return value
  const { $ref, ...rest } = value
  const target = typeof $ref === "string" ? definitions[$ref.replace("#/$defs/", "")] : undefined
  return Object.fromEntries(
    Object.entries(isJsonObject(target) ? { ...target, ...rest } : value)
      .filter(([name, member]) => !isSafeBound(name, member))
      .map(([name, member]) => [name, inline(definitions, member)])
  )
}

/** The JSON Schema of the schema's values on the wire, with everything in its place: its shape alone. */
const wireSchema = (schema: Schema.Top): Json => {
  const document = InputMembers.jsonSchema(schema)
  const definitions = Object.fromEntries(
    Object.entries(document.definitions).map(([name, one]) => [name, InputMembers.lifted(one, false)])
  )
  const inlined = inline(definitions, InputMembers.lifted(document.schema, false))
  return isJsonObject(inlined) ? inlined : {}
}

/** The operation's input: its members, each with its meaning, and no others. */
const inputSchema = (operation: Operation.Any) => {
  const members: Readonly<Record<string, Schema.Top>> = operation.input.fields
  // Values that a person gives are asked of them where they are left out.
  const required = [...InputMembers.required(members)].filter((name) => name !== operation.personal)
  return {
    type: "object" as const,
    properties: Object.fromEntries(
      Object.entries(members).map(([name, member]) => {
        const description = InputMembers.descriptionOf(member)
        return [name, {
          ...wireSchema(member),
          ...(name === "limit" && Arguments.isPaged(operation) ? { default: Arguments.defaultPageLimit } : {}),
          ...(description === undefined ? {} : { description })
        }]
      })
    ),
    ...(required.length === 0 ? {} : { required }),
    additionalProperties: false
  }
}

const words: Readonly<Record<string, string>> = { ai: "AI" }

const title = (id: string): string => {
  const text = id.split("_").map((word) => words[word] ?? word).join(" ")
  return text.charAt(0).toUpperCase() + text.slice(1)
}

/** The instructions of the server say what follows from it. */
const notice = "Returns third-party text."

/** The first sentence of a description; the rest is for readers of the document. */
const first = (text: string | undefined): string | undefined => text?.match(/^.*?\.(?=\s|$)/s)?.[0]

/** Kinds that change nothing; any other is of a change. */
const readingKinds: ReadonlySet<Operation.OperationKind> = new Set([
  "read",
  "live",
  "unlocked",
  "stream",
  "sealed",
  "sealed_stream"
])

/** True if the operation changes nothing. */
export const isReading = ({ kind }: Operation.Any): boolean => readingKinds.has(kind)

/** The tool that an operation is. */
export const define = (operation: Operation.Any) => ({
  name: operation.id,
  title: title(operation.id),
  description: [operation.summary, first(operation.description), operation.thirdPartyText ? notice : undefined]
    .filter((text) => text !== undefined)
    .join(" "),
  inputSchema: inputSchema(operation),
  outputSchema: { ...wireSchema(Schema.toCodecJson(operation.success)), type: "object" as const },
  annotations: {
    readOnlyHint: isReading(operation),
    destructiveHint: operation.destructive || operation.confirm,
    idempotentHint: operation.idempotent,
    openWorldHint: operation.kind === "live" || operation.kind === "guarded" || operation.kind === "login"
  }
})

type ToolDefinition = ReturnType<typeof define>

/**
 * The tool without what it answers, which no model is given and which is three quarters of a list; and, unless a person
 * gives it as an argument, without what only they enter.
 */
export const lean = (
  { personal, personalIsArgument }: Operation.Any,
  { outputSchema: _, ...tool }: ToolDefinition,
  personalArguments: boolean
): Tool => {
  if (personal === undefined || personalIsArgument || personalArguments) return tool
  const members = Object.entries(tool.inputSchema.properties).filter(([name]) => name !== personal)
  return { ...tool, inputSchema: { ...tool.inputSchema, properties: Object.fromEntries(members) } }
}

/** Names that toolsets have been asked for by before they had their own. */
const aliases: Readonly<Record<string, Operation.Toolset>> = {
  organization: "console",
  me: "console",
  settings: "console",
  "account-search": "accounts",
  "ai-connections": "admin",
  "api-keys": "admin"
}

/** The tools of a list of operations. */
export interface Tools {
  /** Every tool with its operation; they are derived once. */
  readonly all: () => ReadonlyArray<readonly [Operation.Any, ToolDefinition]>
  /** The operation that a tool is, undefined for a name that is none. */
  readonly find: (name: unknown) => Operation.Any | undefined
  /** The names of all tools. */
  readonly names: ReadonlyArray<string>
  /** The toolsets that there are tools of. */
  readonly toolsets: ReadonlySet<string>
  /** The names by which toolsets are requested, each with its toolset. */
  readonly toolsetNames: ReadonlyMap<string, string>
}

const derive = (list: ReadonlyArray<Operation.Any>): Tools => {
  const byId = new Map(list.map((operation) => [operation.id, operation]))
  const toolsets = new Set(list.map(({ toolset }) => toolset))
  let defined: ReturnType<Tools["all"]> | undefined
  return {
    all: () => defined ??= list.map((operation) => [operation, define(operation)] as const),
    find: (name) => typeof name === "string" ? byId.get(name) : undefined,
    names: list.map(({ id }) => id),
    toolsets,
    toolsetNames: new Map<string, string>([
      ...Object.entries(aliases),
      ...[...toolsets].map((name) => [name, name] as const)
    ])
  }
}

const known = new WeakMap<ReadonlyArray<Operation.Any>, Tools>()

/** The tools of a list, which are derived once. */
const of = (list: ReadonlyArray<Operation.Any>): Tools => {
  const tools = known.get(list) ?? derive(list)
  known.set(list, tools)
  return tools
}

/** The tools of the service's own operations. */
export const { all, find, names, toolsetNames } = of(operations)

/** The tools of the operations that are served. */
export const served: Effect.Effect<Tools> = Effect.map(ServedOperations, of)

/** True unless the tool answers sealed data, which nobody but a program that opens it can use. */
export const isOffered = (caller: Caller["Service"], operation: Operation.Any): boolean =>
  !Operation.answersSealed(operation) || readsSealed(caller)

/** True if the caller's credential, role and limit allow the tool. */
export const isAllowed = (caller: Caller["Service"], operation: Operation.Any): boolean =>
  !isBeyond(operation.whole, caller.limit) &&
  isOffered(caller, operation) &&
  caller.scopes.includes(operation.scope) && operation.roles.includes(caller.role) &&
  (!operation.archive || caller.readsArchive)
