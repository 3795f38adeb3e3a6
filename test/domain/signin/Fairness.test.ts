import { assert, describe, it } from "@effect/vitest"
import { type GroupMember, next, surplus } from "../../../src/domain/signin/Fairness.ts"

const of = (...groups: ReadonlyArray<string>): GroupMember => ({ groups })

describe("shares of what is bounded", () => {
  it("the last of the group with the most gives way, within it the last of the group with the most", () => {
    const all = [of("a", "1"), of("a", "1"), of("a", "2"), of("b", "3"), of("b", "3")]
    assert.strictEqual(surplus(all), all[1])
    assert.strictEqual(surplus([of("a"), of("b"), of("c")])?.groups[0], "c")
    const mixed = [of("a", "1"), of("a"), of("b"), of("a")]
    assert.strictEqual(surplus(mixed), mixed[3])
    assert.strictEqual(surplus([]), undefined)
  })

  it("the first of the group of which fewest are at work comes next, within it of the group of which fewest are", () => {
    const waiting = [of("a", "1"), of("a", "2"), of("b", "3"), of("c", "4")]
    assert.strictEqual(next(waiting, []), waiting[0])
    assert.strictEqual(next(waiting, [of("a", "1")]), waiting[2])
    assert.strictEqual(next(waiting, [of("a", "1"), of("b", "3"), of("c", "4")]), waiting[1])
    assert.strictEqual(next([], [of("a")]), undefined)
  })
})
