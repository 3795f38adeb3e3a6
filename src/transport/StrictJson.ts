/** JSON as it was written, which JSON.parse does not show. */
import { visit } from "jsonc-parser"

/** The content of a JSON text. */
export interface ReadJson {
  readonly value: unknown
  /** The first member that occurs twice in one object; its value is the last one's, as JSON.parse has it. */
  readonly duplicate: string | undefined
}

/** An object or a list that is being read. */
interface Open {
  readonly members: Map<string, unknown> | undefined
  readonly items: Array<unknown>
  name: string
}

/** The depth to which objects and lists may be nested: their reader is recursive. */
const maxDepth = 100

const closed = ({ items, members }: Open): unknown => members === undefined ? items : Object.fromEntries(members)

/**
 * Reads a text of JSON; throws where it is none, or is nested deeper than any request is.
 *
 * The value is put together here where the text has escapes: the V8 of Node 24 takes an escaped name for another one
 * with a backslash that an object of the same shape had before, in this or any earlier text.
 */
export const read = (text: string): ReadJson => {
  const parsed: unknown = JSON.parse(text)
  const path: Array<Open> = []
  let built: unknown
  let duplicate: string | undefined
  const put = (value: unknown) => {
    const parent = path.at(-1)
    if (parent === undefined) built = value
    else if (parent.members === undefined) parent.items.push(value)
    else parent.members.set(parent.name, value)
  }
  const begin = (members: Open["members"]) => {
    if (path.length === maxDepth) throw new SyntaxError("nested too deep")
    path.push({ members, items: [], name: "" })
  }
  const close = () => {
    const open = path.pop()
    if (open !== undefined) put(closed(open))
  }
  visit(text, {
    onObjectBegin: () => begin(new Map()),
    onArrayBegin: () => begin(undefined),
    onObjectProperty: (name) => {
      const open = path.at(-1)
      if (open === undefined) return
      if (open.members?.has(name) === true) duplicate ??= name
      open.name = name
    },
    onLiteralValue: put,
    onObjectEnd: close,
    onArrayEnd: close
  })
  return { value: text.includes("\\") ? built : parsed, duplicate }
}
