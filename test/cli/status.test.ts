import { describe, expect, it } from "@effect/vitest"
import { unsignedText, watchText } from "../../src/cli/commands/StatusCommand.ts"

const late = (organization: string) => ({ organization, sequence: 7, at: new Date(0) })

describe("security-console status", () => {
  it("names the first journal that was not signed in time, and how many others there are", () => {
    expect(unsignedText([])).toBe("no event older than two minutes")
    const advice = "they may have been changed; see journal verify"
    const first = "acme from event 7 of 1970-01-01T00:00:00.000Z on"
    expect(unsignedText([late("acme")])).toBe(`${first}: ${advice}`)
    expect(unsignedText([late("acme"), late("beta")])).toBe(`${first}, and 1 more: ${advice}`)
  })

  it("names what polls accounts, a worker with a messenger, while no process does", () => {
    const text = watchText({ fault: "unpolled", last_poll_at: null, last_good_at: null })
    expect(text).toContain("no process polls the accounts, although some are due")
    expect(text).toContain("role worker and a messenger (`--messenger wire`, or `--demo`)")
  })
})
