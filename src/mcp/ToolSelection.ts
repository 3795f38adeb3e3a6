/** The selection of a connection's tools: its address names toolsets, tools, and whether it only reads. */
import { Effect } from "effect"
import { ParameterInvalid, ResourceMissing } from "../domain/Failure.ts"
import type * as Operation from "../kernel/Operation.ts"
import * as Tools from "./Tools.ts"

/** The path of the server; a selection is named below it. */
export const path = "/mcp"

export interface Selection {
  /** The toolsets and tools that were named; undefined where none was. */
  readonly named: { readonly toolsets: ReadonlySet<string>; readonly tools: ReadonlySet<string> } | undefined
  /** Every tool is listed, however many they are: asked for by `?toolsets=all`. */
  readonly all: boolean
  readonly readOnly: boolean
  /** True if the list says what the tools answer too, which no model reads: asked for by `?schemas=output`. */
  readonly outputSchemas: boolean
}

/** The name that stands for every toolset. */
const every = "all"

/** A connection that has every tool. */
export const everything: Selection = { named: undefined, all: false, readOnly: false, outputSchemas: false }

/** True if a header asks for reading alone: everything does but what says no. */
const isReadOnly = (header: string | undefined): boolean =>
  !["", "false", "f", "no", "n", "0", "off"].includes((header ?? "").trim().toLowerCase())

const split = (lists: ReadonlyArray<string>): ReadonlyArray<string> =>
  lists.flatMap((list) => list.split(",")).map((name) => name.trim()).filter((name) => name !== "")

const known = (
  param: string,
  names: ReadonlyArray<string>,
  accepted: (name: string) => boolean,
  allowed: Iterable<string>
) =>
  names.every(accepted)
    ? Effect.void
    : Effect.fail(
      new ParameterInvalid({ param, message: `${param}: expected some of ${[...allowed].join(", ")}, by commas.` })
    )

const below = /^(?:\/x\/([^/]+))?(\/readonly)?\/?$/

/** The toolsets that the path names, and whether it ends with `readonly`. */
const readPath = (pathname: string) => {
  const [found, toolsets, readOnly] = below.exec(pathname.startsWith(path) ? pathname.slice(path.length) : "") ?? []
  if (found === undefined) return Effect.fail(new ResourceMissing({}))
  return Effect.try({
    try: () => ({
      toolsets: toolsets === undefined ? [] : [decodeURIComponent(toolsets)],
      readOnly: readOnly !== undefined
    }),
    catch: () => new ResourceMissing({})
  })
}

/** The selection by the request's address and header; names that are not known are refused with those that are. */
export const read = Effect.fnUntraced(function*(url: string, readOnlyHeader: string | undefined) {
  const [pathname = "", query = ""] = url.split("?", 2)
  const place = yield* readPath(pathname)
  const params = new URLSearchParams(query)
  const toolsets = split([...place.toolsets, ...params.getAll("toolsets")])
  const tools = split(params.getAll("tools"))
  const served = yield* Tools.served
  const isToolset = (name: string) => name === every || served.toolsetNames.has(name)
  yield* known("toolsets", toolsets, isToolset, [...served.toolsets, every])
  yield* known("tools", tools, (name) => served.find(name) !== undefined, served.names)
  const all = toolsets.includes(every)
  const isNamed = place.toolsets.length > 0 || params.has("toolsets") || params.has("tools")
  const selection: Selection = {
    all,
    named: isNamed && !all
      ? { toolsets: new Set(toolsets.flatMap((name) => served.toolsetNames.get(name) ?? [])), tools: new Set(tools) }
      : undefined,
    readOnly: place.readOnly || isReadOnly(readOnlyHeader),
    outputSchemas: params.get("schemas") === "output"
  }
  return selection
})

/** The reason that the connection has not the operation's tool; undefined where it has. */
export const refusal = ({ named, readOnly }: Selection, operation: Operation.Any): string | undefined => {
  if (readOnly && !Tools.isReading(operation)) {
    return `${operation.id} changes something, and this connection is read-only: nothing was done.`
  }
  if (named === undefined || named.tools.has(operation.id) || named.toolsets.has(operation.toolset)) {
    return undefined
  }
  const has = [
    ...(named.toolsets.size > 0 ? [`the toolsets ${[...named.toolsets].join(", ")}`] : []),
    ...(named.tools.size > 0 ? [`the tools ${[...named.tools].join(", ")}`] : [])
  ]
  return `${operation.id} belongs to the toolset ${operation.toolset}, which is not in this connection: ` +
    `its address names ${has.length === 0 ? "none" : `only ${has.join(" and ")}`}.`
}
