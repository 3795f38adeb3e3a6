import { describe, expect, it } from "@effect/vitest"
import { unsignedText, watchText, workersText } from "../../src/cli/commands/StatusCommand.ts"

const late = (organization: string) => ({ organization, sequence: 7, at: new Date(0) })

describe("security-console status", () => {
  it("names the first journal that was not signed in time, and how many others there are", () => {
    expect(unsignedText([])).toBe("no event older than two minutes")
    const advice = "they may have been changed; see journal verify"
    const first = "acme from event 7 of 1970-01-01T00:00:00.000Z on"
    expect(unsignedText([late("acme")])).toBe(`${first}: ${advice}`)
    expect(unsignedText([late("acme"), late("beta")])).toBe(`${first}, and 1 more: ${advice}`)
  })

  it("says how many slots each worker has, since when, and how many nobody has", () => {
    const worker = (address: string, slots: number) => ({
      address,
      slots,
      since: slots === 0 ? null : new Date(0),
      renewed_at: new Date(4000)
    })
    const since = "since 1970-01-01T00:00:00.000Z"
    expect(workersText({ living: [worker("10.0.0.7:8090", 512), worker("10.0.0.8:8090", 512)], free_slots: 0 })).toBe(
      `10.0.0.7:8090 has 512 slots, ${since}; 10.0.0.8:8090 has 512 slots, ${since}; none is nobody's`
    )
    expect(workersText({ living: [worker("10.0.0.7:8090", 0)], free_slots: 1024 })).toBe(
      "10.0.0.7:8090 has no slots; 1024 are nobody's"
    )
  })

  it("names what polls accounts, a worker with a messenger, while no process does", () => {
    const text = watchText({ fault: "unpolled", last_poll_at: null, last_good_at: null })
    expect(text).toContain("no process polls the accounts, although some are due")
    expect(text).toContain("role worker and a messenger (`--messenger wire`, or `--demo`)")
  })
})
