/** Prints how long the files of each kind took, one after another, and which ten took longest. */
import type { Reporter, TestModule } from "vitest/node"
import { kindOf, kinds } from "./kinds.ts"

const slowest = 10

const timeOf = (module: TestModule): number => {
  const { collectDuration, duration, environmentSetupDuration, prepareDuration, setupDuration } = module.diagnostic()
  return collectDuration + duration + environmentSetupDuration + prepareDuration + setupDuration
}

const seconds = (milliseconds: number): string => `${(milliseconds / 1000).toFixed(1).padStart(8)} s`

/** The lines that a run prints, of files with what each took in milliseconds. */
export const linesOf = (
  files: ReadonlyArray<{ readonly file: string; readonly milliseconds: number; readonly tests: number }>
): ReadonlyArray<string> => {
  const sum = (values: ReadonlyArray<number>) => values.reduce((one, other) => one + other, 0)
  const ofKinds = kinds.flatMap((kind) => {
    const own = files.filter(({ file }) => kindOf(file) === kind)
    const time = seconds(sum(own.map(({ milliseconds }) => milliseconds)))
    const tests = sum(own.map(({ tests }) => tests))
    return own.length === 0 ? [] : [`  ${kind.padEnd(10)}${time}  ${own.length} files, ${tests} tests`]
  })
  const longest = files.toSorted((one, other) => other.milliseconds - one.milliseconds).slice(0, slowest)
  return [
    "",
    "Time per kind, of all workers together:",
    ...ofKinds,
    "",
    "The files that took longest:",
    ...longest.map(({ file, milliseconds }) => `  ${seconds(milliseconds)}  ${file}`)
  ]
}

export default class RunTimes implements Reporter {
  onTestRunEnd(modules: ReadonlyArray<TestModule>): void {
    const files = modules.map((module) => ({
      file: module.relativeModuleId,
      milliseconds: timeOf(module),
      tests: [...module.children.allTests()].length
    }))
    process.stdout.write(`${linesOf(files).join("\n")}\n`)
  }
}
