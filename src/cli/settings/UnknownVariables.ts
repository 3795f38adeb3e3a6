/** The variables of the environment that begin as the service's do, and that it does not know: misspelt, or of old. */
import { program } from "../commands/Output.ts"
import { knownVariables } from "./Settings.ts"

interface Unknown {
  readonly name: string
  /** The known one that it is most like; null where none is near. */
  readonly nearest: string | null
}

/** The number of letters that have to be changed, added or left out to make one word of the other. */
const distance = (one: string, other: string): number => {
  let row = Array.from({ length: other.length + 1 }, (_, index) => index)
  for (let i = 1; i <= one.length; i++) {
    const next = [i]
    for (let j = 1; j <= other.length; j++) {
      const replaced = (row[j - 1] ?? 0) + (one[i - 1] === other[j - 1] ? 0 : 1)
      next.push(Math.min((row[j] ?? 0) + 1, (next[j - 1] ?? 0) + 1, replaced))
    }
    row = next
  }
  return row[other.length] ?? 0
}

/** The distance of a name at most from the one that is suggested for it. */
const farthest = 4

/** The names that no setting has, each with the nearest that one has. */
export const unknownAmong = (names: ReadonlyArray<string>, known: ReadonlyArray<string>): ReadonlyArray<Unknown> =>
  names.filter((name) => name.startsWith("CONSOLE_") && !known.includes(name)).map((name) => {
    const [nearest] = known.map((each) => ({ each, far: distance(name, each) }))
      .filter(({ far }) => far <= farthest).toSorted((a, b) => a.far - b.far)
    return { name, nearest: nearest?.each ?? null }
  })

/** Those of this process. */
export const unknown = () => unknownAmong(Object.keys(process.env), knownVariables())

/** The advice about an unknown variable. */
export const advice = (name: string, nearest: string | null): string =>
  nearest === null
    ? `${name} is no setting, and changes nothing; \`${program} settings\` prints those that there are`
    : `${name} is no setting, and changes nothing: is it ${nearest}?`
