import { describe, expect, it } from "@effect/vitest"
import { newestEdit, sift } from "../../../src/domain/archive/Revisions.ts"

const seen = (editedAt: number, mark: string | null) => ({ id: 1n, message: mark, editedAt, mark })
const known = (...revisions: ReadonlyArray<ReturnType<typeof seen>>) =>
  new Map([[1n, revisions.map((revision, place) => ({ ...revision, late: false, place }))]])

const texts = ({ fresh, revised }: ReturnType<typeof sift<ReturnType<typeof seen>>>) => ({
  fresh: fresh.map(({ mark }) => mark),
  revised: revised.map(({ late, mark }) => late ? `${mark}, late` : mark)
})

describe("messages that are seen again", () => {
  it("are revisions where the time of the edit is new, and late where a newer one is archived", () => {
    expect(texts(sift([seen(0, "a"), seen(5, "b"), seen(3, "c")], new Map(), false)))
      .toEqual({ fresh: ["a"], revised: ["b", "c, late"] })
    expect(texts(sift([seen(5, "b")], known(seen(5, "b")), false))).toEqual({ fresh: [], revised: [] })
  })

  it("are two revisions where two edits of one second say different things", () => {
    expect(texts(sift([seen(5, "c")], known(seen(5, "b")), false)).revised).toEqual(["c"])
    expect(texts(sift([seen(5, "c")], known(seen(5, "b")), true)).revised).toEqual(["c, late"])
  })

  it("are archived again where another revision of their second was stored after them, and are not the ones shown", () => {
    const both = known(seen(5, "c"), seen(5, "b"))
    expect(texts(sift([seen(5, "c")], both, false)).revised).toEqual(["c"])
    expect(texts(sift([seen(5, "c"), seen(5, "c")], both, false)).revised).toEqual(["c"])
    expect(texts(sift([seen(5, "b"), seen(5, "c"), seen(5, "b")], both, false)).revised).toEqual(["c", "b"])
    expect(texts(sift([seen(5, "c")], both, true)).revised).toEqual([])
    expect(texts(sift([seen(5, "c")], known(seen(5, "c"), seen(5, "b"), seen(6, "d")), false)).revised).toEqual([])
  })

  it("are numbered within their second", () => {
    const placed = sift([seen(5, "b"), seen(5, "c"), seen(6, "d"), seen(5, "b")], known(seen(0, null)), false).revised
    expect(placed.map(({ late, mark, place }) => [mark, place, late])).toEqual([
      ["b", 0, false],
      ["c", 1, false],
      ["d", 0, false]
    ])
  })

  it("are told apart by the time alone where the contents cannot be compared", () => {
    expect(texts(sift([seen(5, "c")], known(seen(5, null)), false)).revised).toEqual([])
    expect(texts(sift([seen(6, "c")], known(seen(5, null)), false)).revised).toEqual(["c"])
  })

  it("are a late revision as they were sent, where an edit was seen before", () => {
    expect(texts(sift([seen(0, "a")], known(seen(5, "b")), true)).revised).toEqual(["a, late"])
  })
})

describe("the newest edit", () => {
  const edit = (edited_at: number | null, late: boolean, text: string) => ({ edited_at, late, seen_at: 0, text })

  it("is the last one of the newest second, and none that came late", () => {
    const edits = [edit(5, false, "b"), edit(5, false, "c"), edit(5, true, "d"), edit(3, true, "e")]
    expect(newestEdit(edits, 0)?.text).toBe("c")
  })

  it("is none where the message was first seen as it was edited later", () => {
    expect(newestEdit([edit(null, true, "a"), edit(3, true, "b")], 5)).toBeNull()
    expect(newestEdit([edit(5, true, "a")], 5)).toBeNull()
    expect(newestEdit([edit(5, false, "a")], 5)?.text).toBe("a")
  })
})
