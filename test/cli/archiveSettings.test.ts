import { describe, expect, it } from "@effect/vitest"
import { Duration } from "effect"
import * as path from "node:path"
import * as Background from "../../src/cli/process/BackgroundWork.ts"
import { freshDirectory } from "../support/cli/commandLine.ts"
import { runInProcess } from "../support/cli/inProcess.ts"

describe("the settings of archiving", () => {
  const settings = {
    maxLive: 7,
    reviewWindow: 20,
    archiveRuns: 2,
    archiveRate: 3,
    archiveMediaRate: 4,
    archiveRecheck: 5
  }

  it("are those of the watch, and no days of comparing are all of them", () => {
    expect(Background.watchOptions(settings)).toEqual({
      maxLive: 7,
      reviewWindow: Duration.minutes(20),
      archiveRuns: 2,
      archivePace: { rate: 3, burst: 5 },
      mediaPace: { rate: 4, burst: 4 },
      comparedAge: Duration.days(5)
    })
    expect(Background.watchOptions({ ...settings, archiveRecheck: 0 }).comparedAge).toBeNull()
  })

  const cases = [
    ["CONSOLE_ARCHIVE_RUNS", "0", "a whole number from 1 to 1000"],
    ["CONSOLE_ARCHIVE_RATE", "0.5", "a whole number from 1 to 100"],
    ["CONSOLE_ARCHIVE_MEDIA_RATE", "fast", "a whole number from 1 to 1000"],
    ["CONSOLE_ARCHIVE_RECHECK", "-1", "a whole number from 0 to 3650"]
  ] as const

  it.each(cases)("%s is refused where it is %j, with what is allowed", async (variable, value, allowed) => {
    const data = path.join(freshDirectory(), "never")
    const { status, stderr } = await runInProcess(["serve", "--data", data], { env: { [variable]: value } })
    expect(status).toBe(2)
    expect(stderr).toContain(`${variable} is ${allowed}, not "${value}"`)
  })
})
