/** The order in which files are run: a long one that starts last would keep the whole run waiting. */
import { BaseSequencer, type TestSpecification } from "vitest/node"

/** From the projects with the longest files to those with the shortest. */
const projects = ["process", "property", "postgres", "spec", "unit"]

const rank = ({ project }: TestSpecification): number => projects.indexOf(project.name)

/** The projects one after another, each by what its files took the last time, or by their size. */
export class Longest extends BaseSequencer {
  override async sort(files: Array<TestSpecification>): Promise<Array<TestSpecification>> {
    const sorted = await super.sort(files)
    return sorted.toSorted((one, other) => rank(one) - rank(other))
  }
}
