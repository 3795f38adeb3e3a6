import { describe, expect, it } from "@effect/vitest"
import {
  afterLoss,
  afterRefusal,
  afterSelection,
  afterSighting,
  type CapturedChat,
  isCleaned,
  isSameChat,
  type Sighting,
  unchecked,
  uncheckedDownTo
} from "../../../src/domain/archive/CapturedChat.ts"
import { afterPage, afterPush, noProgress } from "../../../src/domain/archive/ChatProgress.ts"
import type { Selection } from "../../../src/domain/archive/RuleSelection.ts"

const now = new Date("2026-03-02T12:00:00Z")
const before = new Date("2026-03-01T12:00:00Z")

const archive: Selection = { effect: "archive", live: true, maxFileBytes: null, media: "all", ruleId: "rule" }
const skip: Selection = { ...archive, effect: "skip", ruleId: "other" }

const seen: Sighting = {
  chatId: -1_000_000_000_001n,
  type: "group",
  ref: "own:1",
  protected: false,
  joinedAt: before,
  left: false,
  migratedTo: null,
  topId: 40n,
  position: 9,
  members: 2
}

/** A channel that is archived from id 10 to its newest message, 40. */
const known: CapturedChat = {
  ...afterSighting(null, seen, archive, before, null),
  progress: { covered: [{ low: 10n, high: 41n }], edge: 41n, floor: 5n, topId: 40n, reachedAt: before },
  floorAt: before,
  lastId: 40n
}

describe("a chat that is seen again", () => {
  it("keeps its promises where the answer lacks the date of joining", () => {
    const after = afterSighting(known, { ...seen, joinedAt: null, topId: null, position: null }, archive, now, null)
    expect(after).toEqual(known)
  })

  it("is the same where the answer says nothing new, and another one with each fact that is new", () => {
    const isSame = (seen: Sighting, selection = archive) =>
      isSameChat(known, afterSighting(known, seen, selection, now, null))
    expect(isSame({ ...seen, joinedAt: new Date(before) })).toBe(true)
    const news: ReadonlyArray<Partial<Sighting>> = [
      { ref: "own:2" },
      { protected: true },
      { joinedAt: now },
      { left: true },
      { migratedTo: 7n },
      { topId: 41n },
      { members: 3 }
    ]
    for (const fact of news) expect([fact, isSame({ ...seen, ...fact })]).toEqual([fact, false])
    expect(isSame(seen, skip)).toBe(false)
  })

  it("with a new date of joining has nothing covered, also where changes seemed to follow each other meanwhile", () => {
    const { progress } = afterSighting(known, { ...seen, joinedAt: null, topId: 42n }, archive, now, null)
    const pushed = { ...known, progress: afterPush(progress, 42n, now) }
    const after = afterSighting(pushed, { ...seen, joinedAt: now, topId: 42n }, archive, now, null)
    expect(after.progress).toEqual({ ...noProgress, topId: 42n })
    expect([after.unchecked, after.joinedAt]).toEqual([null, now])
  })

  it("is known by its id, type and address alone while it is skipped, beside what was archived of it", () => {
    const bare = { joinedAt: null, members: null, membersAt: null }
    const progress = { topId: null, covered: known.progress.covered, floor: 5n }
    const skipped = afterSelection({ ...known, membersAt: before }, skip)
    expect(skipped).toMatchObject({ ...bare, progress })
    expect(afterSighting(skipped, seen, skip, now, null)).toEqual(skipped)
    expect(afterSighting(null, seen, skip, now, null)).toMatchObject({ ...bare, progress: noProgress })
    const again = afterSighting(skipped, seen, archive, now, null)
    expect(again).toMatchObject({ joinedAt: before, members: 2, progress: { topId: 40n, floor: null } })
    expect(again.progress).toEqual({ ...noProgress, topId: 40n })
  })

  it("has its members read again where their number is another one, and not where the answer lacks it", () => {
    const read = { ...known, membersAt: before }
    expect(afterSighting(read, { ...seen, members: 3 }, archive, now, null)).toMatchObject({
      members: 3,
      membersAt: null
    })
    for (const members of [2, null]) {
      expect(afterSighting(read, { ...seen, members }, archive, now, null)).toMatchObject({
        members: 2,
        membersAt: before
      })
    }
  })

  it("is left from the first answer on that says so, until one says that it is not", () => {
    const left = afterSighting(known, { ...seen, left: true }, archive, now, null)
    expect(left.leftAt).toEqual(now)
    const later = new Date(now.getTime() + 1000)
    expect(afterSighting(left, { ...seen, left: true }, archive, later, null).leftAt).toEqual(now)
    expect(afterSighting(left, seen, archive, later, null).leftAt).toBeNull()
  })

  it("with a position where there was none is compared again from the recent messages on", () => {
    const after = afterSighting({ ...known, position: null }, seen, archive, now, 30n)
    expect([after.position, after.unchecked]).toEqual([9, { below: 41n, to: 30n }])
  })

  it("keeps a position that is known, whatever the answer says", () => {
    expect(afterSighting(known, { ...seen, position: 12 }, archive, now, null).position).toBe(9)
  })
})

describe("a chat that the rules judge again", () => {
  it("is compared where it is archived again, and has no edge from the change on", () => {
    const skipped = afterSelection(known, skip)
    expect(skipped).toMatchObject({ effect: "skip", unchecked: null, progress: { edge: null } })
    expect(afterSelection(skipped, archive)).toMatchObject({
      effect: "archive",
      unchecked: { below: 41n, to: 10n },
      progress: { edge: null }
    })
    expect(afterSelection(known, { ...archive, live: false }).progress.edge).toBe(41n)
  })
})

describe("a chat whose changes were lost", () => {
  it("is compared where it is archived", () => {
    expect(afterLoss(known, null)).toMatchObject({ unchecked: { below: 41n, to: 10n }, progress: { edge: null } })
    expect(afterLoss(afterSelection(known, skip), null).unchecked).toBeNull()
  })

  it("is compared once for several losses, over all of them", () => {
    const twice = unchecked(unchecked(known, { below: 20n, to: 15n }), { below: 41n, to: 30n })
    expect(twice.unchecked).toEqual({ below: 41n, to: 15n })
    expect(uncheckedDownTo(known, 45n).unchecked).toEqual({ below: 46n, to: 45n })
    expect(uncheckedDownTo(known, 12n).unchecked).toEqual({ below: 41n, to: 12n })
  })

  it("that the messenger refuses to read has neither position nor edge, and is left from then on", () => {
    const until = new Date(now.getTime() + 6 * 3_600_000)
    expect(afterRefusal(known, true, until, now)).toMatchObject({
      position: null,
      leftAt: now,
      refusedUntil: until,
      progress: { edge: null, covered: known.progress.covered }
    })
  })
})

describe("how far back a chat is archived without a gap", () => {
  it("follows the pages, and only those that touch its newest messages", () => {
    const at = (day: number) => new Date(Date.UTC(2026, 0, day))
    const page = (below: bigint | null, ids: ReadonlyArray<bigint>, day: number) => ({
      below,
      ids,
      oldestAt: at(day),
      lastKnown: null
    })
    const first = afterPage(noProgress, page(null, [90n, 80n], 20))
    expect(first.reachedAt).toEqual(at(20))
    const second = afterPage(first, page(80n, [70n, 60n], 10))
    expect(second.reachedAt).toEqual(at(10))
    const pushed = afterPush({ ...second, edge: null }, 120n, at(25))
    expect(pushed.reachedAt).toEqual(at(25))
    expect(afterPage(pushed, page(120n, [91n, 85n], 19)).reachedAt).toEqual(at(19))
  })
})

describe("ids that a cleanup deleted", () => {
  it("are those of its ranges", () => {
    const cleaned = { ...known, cleaned: [{ low: 10n, high: 20n }] }
    expect([9n, 10n, 19n, 20n].map((id) => isCleaned(cleaned, id))).toEqual([false, true, true, false])
  })
})
