/** The order in which files are run: a long one that starts last would keep the whole run waiting. */
import * as path from "node:path"
import { BaseSequencer, type TestSpecification } from "vitest/node"
import { kindOf, kinds } from "./kinds.ts"
import { root } from "./program.ts"

const rank = ({ moduleId }: TestSpecification): number => kinds.indexOf(kindOf(path.relative(root, moduleId)))

/** The kinds one after another, each by what its files took the last time, or by their size. */
export class Longest extends BaseSequencer {
  override async sort(files: Array<TestSpecification>): Promise<Array<TestSpecification>> {
    const sorted = await super.sort(files)
    return sorted.toSorted((one, other) => rank(one) - rank(other))
  }
}
