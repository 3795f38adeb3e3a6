/** What JSON.parse passes over in silence. */
import { visit } from "jsonc-parser"

/** The first member that stands twice in one object of the text; JSON.parse would drop all but the last. */
export const duplicateMember = (text: string): string | undefined => {
  const open: Array<Set<string>> = []
  let duplicate: string | undefined
  visit(text, {
    onObjectBegin: () => {
      open.push(new Set())
    },
    onObjectProperty: (name) => {
      const members = open.at(-1)
      if (members?.has(name) === true) duplicate ??= name
      members?.add(name)
    },
    onObjectEnd: () => {
      open.pop()
    }
  })
  return duplicate
}
