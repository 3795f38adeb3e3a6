import { expect, it } from "@effect/vitest"
import { afterPage, afterPush, noProgress } from "../../../src/domain/archive/ChatProgress.ts"

it("after a page without any message a push promises itself alone: what lies below may be shown later", () => {
  const empty = afterPage(noProgress, { below: null, ids: [], oldestAt: null, lastKnown: 5n })
  expect(empty).toMatchObject({ covered: [], edge: 6n, floor: 6n })
  expect(afterPush(empty, 9n, new Date(0)).covered).toEqual([{ low: 9n, high: 10n }])
})
