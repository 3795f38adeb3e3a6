/** Prints how long the files of each project took, one after another. */
import type { Reporter, TestModule } from "vitest/node"

interface Time {
  readonly files: number
  readonly tests: number
  readonly milliseconds: number
}

const none: Time = { files: 0, tests: 0, milliseconds: 0 }

const timeOf = (module: TestModule): number => {
  const { collectDuration, duration, environmentSetupDuration, prepareDuration, setupDuration } = module.diagnostic()
  return collectDuration + duration + environmentSetupDuration + prepareDuration + setupDuration
}

export default class ProjectTimes implements Reporter {
  onTestRunEnd(modules: ReadonlyArray<TestModule>): void {
    const times = new Map<string, Time>()
    for (const module of modules) {
      const { files, milliseconds, tests } = times.get(module.project.name) ?? none
      times.set(module.project.name, {
        files: files + 1,
        tests: tests + [...module.children.allTests()].length,
        milliseconds: milliseconds + timeOf(module)
      })
    }
    const lines = [...times].map(([name, { files, milliseconds, tests }]) =>
      `  ${name.padEnd(10)}${(milliseconds / 1000).toFixed(1).padStart(8)} s  ${files} files, ${tests} tests`
    )
    process.stdout.write(`\nTime per project, of all workers together:\n${lines.join("\n")}\n`)
  }
}
