/** The tools of a connection that are listed: whole toolsets, as far as a model's attention goes. */
import type { Tool } from "@modelcontextprotocol/server"
import type { Caller } from "../domain/people/Access.ts"
import { toolsets } from "../kernel/Contract.ts"
import * as Operation from "../kernel/Operation.ts"
import * as Tools from "./Tools.ts"
import * as ToolSelection from "./ToolSelection.ts"

/**
 * The most bytes that the tools of a list take where its address names none: 8,000 tokens of four bytes, less what an
 * answer has around its tools.
 */
const listSize = 31_700

/** The facts that decide on a connection's list. */
export interface ListingFacts {
  /** Tools that the credential may not use are listed too, whatever they take. */
  readonly complete: boolean
  readonly selection: ToolSelection.Selection
  /** True if what a person gives is an argument. */
  readonly personalArguments: boolean
}

interface ListedTools {
  /** In the specification's order. */
  readonly tools: ReadonlyArray<Tool>
  /** The tools of the list by their names. */
  readonly names: ReadonlySet<string>
  /** The toolsets that the connection has and the list has not. */
  readonly omitted: ReadonlyArray<Operation.Toolset>
}

interface Entry {
  readonly operation: Operation.Any
  readonly outputSchema: Tool["outputSchema"]
  /** As it is listed, unless what it answers is asked for too. */
  readonly lean: Tool
  /** Its bytes in a list. */
  readonly size: number
}

const encoder = new TextEncoder()

const entry = ([operation, tool]: ReturnType<Tools.Tools["all"]>[number], personalArguments: boolean): Entry => {
  const lean = Tools.lean(operation, tool, personalArguments)
  return { operation, outputSchema: tool.outputSchema, lean, size: encoder.encode(JSON.stringify(lean)).length + 1 }
}

type Entries = readonly [withoutPersonal: ReadonlyArray<Entry>, withPersonal: ReadonlyArray<Entry>]

const known = new WeakMap<Tools.Tools, Entries>()

/** Every tool as it is listed; they are derived once. */
const entriesOf = (tools: Tools.Tools): Entries => {
  const entries = known.get(tools) ??
    [tools.all().map((one) => entry(one, false)), tools.all().map((one) => entry(one, true))]
  known.set(tools, entries)
  return entries
}

/** The toolsets that have room together, each as a whole. */
const fitting = (entries: ReadonlyArray<Entry>): ReadonlySet<Operation.Toolset> => {
  let room = listSize
  return new Set(toolsets.filter((toolset) => {
    const size = entries.reduce((sum, { operation, size }) => operation.toolset === toolset ? sum + size : sum, 0)
    if (size > room) return false
    room -= size
    return true
  }))
}

/** The tools that the caller is shown; those of sealed reading are for programs, and listed where they are asked for. */
export const list = (tools: Tools.Tools, caller: Caller["Service"], shown: ListingFacts): ListedTools => {
  const { complete, personalArguments, selection } = shown
  const isWhole = complete || selection.named !== undefined || selection.all
  const offered = entriesOf(tools)[personalArguments ? 1 : 0].filter(({ operation }) =>
    (isWhole || !Operation.answersSealed(operation)) &&
    (complete && Tools.isOffered(caller, operation) || Tools.isAllowed(caller, operation)) &&
    ToolSelection.refusal(selection, operation) === undefined
  )
  const chosen = isWhole ? new Set(toolsets) : fitting(offered)
  const listed = offered.filter(({ operation }) => chosen.has(operation.toolset))
  return {
    tools: listed.map(({ lean, outputSchema }) => selection.outputSchemas ? { ...lean, outputSchema } : lean),
    names: new Set(listed.map(({ operation }) => operation.id)),
    omitted: toolsets.filter((toolset) =>
      !chosen.has(toolset) && offered.some(({ operation }) => operation.toolset === toolset)
    )
  }
}

/** The sentence that a model needs about the tools that are not listed. */
export const omission = ({ omitted }: ListedTools): string =>
  omitted.length === 0
    ? ""
    : ` Not listed here are the tools of ${omitted.join(" and ")}: each can be called by its name all the same. \
${ToolSelection.path}?toolsets=${omitted.join(",")} lists them, and ${ToolSelection.path}?toolsets=all every tool.`
