/** The order in which files are run: a long one that starts last would keep the whole run waiting. */
import * as path from "node:path"
import { BaseSequencer, type TestSpecification } from "vitest/node"
import { kindOf, kinds, waiting } from "./kinds.ts"
import { root } from "./program.ts"

const kind = ({ moduleId }: TestSpecification): string => kindOf(path.relative(root, moduleId))

/** Where of all the run the last of those that wait begins. */
const end = 0.8

/** Both lists in one, each evenly in its own order, the first up to the end. */
const spread = <A>(first: ReadonlyArray<A>, second: ReadonlyArray<A>): Array<A> =>
  [
    ...first.map((item, at) => ({ item, place: end * at / first.length })),
    ...second.map((item, at) => ({ item, place: at / second.length }))
  ].toSorted((one, other) => one.place - other.place).map(({ item }) => item)

/**
 * The kinds one after another, each by what its files took the last time, or by their size; those that wait for others
 * are spread over those that keep a processor busy, so that neither waits alone.
 */
export class Longest extends BaseSequencer {
  override async sort(files: Array<TestSpecification>): Promise<Array<TestSpecification>> {
    const sorted = await super.sort(files)
    const ranked = sorted.toSorted((one, other) => kinds.indexOf(kind(one)) - kinds.indexOf(kind(other)))
    return spread(ranked.filter((file) => kind(file) === waiting), ranked.filter((file) => kind(file) !== waiting))
  }
}
