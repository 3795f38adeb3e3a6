import { afterEach, beforeEach, describe, expect, it } from "@effect/vitest"
import * as crypto from "node:crypto"
import { vi } from "vitest"
import { writePart } from "../../src/viewer/download/WrittenPart.ts"

const whole = crypto.randomBytes(1000)

const sha256 = (bytes: Uint8Array) => crypto.hash("sha256", bytes, "hex")

/** An answer with these bytes, after which the connection is cut unless they are all. */
const sent = (bytes: Uint8Array, isCut: boolean) =>
  new Response(
    new ReadableStream({
      pull: (controller) => {
        if (bytes.length > 0) controller.enqueue(new Uint8Array(bytes))
        bytes = bytes.subarray(bytes.length)
        if (isCut) controller.error(new Error("cut"))
        else controller.close()
      }
    }, { highWaterMark: 0 }),
    { headers: { "content-type": "application/zip" } }
  )

/** A part as it is answered attempt by attempt: what was asked for, what is written, and what is said. */
const write = async (answers: ReadonlyArray<() => Response>, reason: string | null = null) => {
  const asked: Array<readonly [after: string | null, hash: string | null]> = []
  let file = Buffer.alloc(0)
  let attempt = 0
  vi.stubGlobal("fetch", (_: string, { body }: { readonly body: URLSearchParams }) => {
    asked.push([body.get("after_bytes"), body.get("after_sha256")])
    const answer = answers[Math.min(attempt++, answers.length - 1)]
    return answer === undefined ? Promise.reject(new Error("no connection")) : Promise.resolve(answer())
  })
  const done = writePart({
    write: (part) => Promise.resolve(void (file = Buffer.concat([file, part]))),
    truncate: (size) => Promise.resolve(void (file = file.subarray(0, size))),
    close: () => Promise.resolve(),
    abort: () => Promise.resolve()
  }, {
    address: "https://console.example/part",
    fields: new URLSearchParams({ password: "secret", number: "1" }),
    reason: () => reason,
    say: () => undefined
  })
  await vi.runAllTimersAsync()
  return { asked, file, refusal: await done }
}

const cut = (from: number, to: number) => () => sent(whole.subarray(from, to), true)
const rest = (from: number) => () => sent(whole.subarray(from), false)

describe("a part that a page writes to a file", () => {
  beforeEach(() => void vi.useFakeTimers())
  afterEach(() => {
    vi.useRealTimers()
    vi.unstubAllGlobals()
  })

  it("goes on after what is there, which its hash proves, however often it breaks off with more of it", async () => {
    const cuts = [100, 200, 300, 400, 500, 600, 700]
    const { asked, file, refusal } = await write([...cuts.map((to) => cut(to - 100, to)), rest(700)])
    expect([refusal, file.equals(whole)]).toEqual([null, true])
    expect(asked).toEqual([
      [null, null],
      ...cuts.map((to) => [String(to), sha256(whole.subarray(0, to))])
    ])
  })

  it("begins again where it is not what is there any more", async () => {
    const { asked, file, refusal } = await write([cut(0, 300), cut(0, 0), rest(0)], "changed")
    expect([refusal, file.equals(whole)]).toEqual([null, true])
    expect(asked.map(([after]) => after)).toEqual([null, "300", null])
  })

  it("takes no page for a part, and says why it is refused; what is busy or away is asked again a few times", async () => {
    const page = () => new Response("<p>Sign in", { headers: { "content-type": "text/html; charset=utf-8" } })
    const signedOut = await write([cut(0, 300), page])
    expect([signedOut.file.length, signedOut.refusal]).toEqual([300, expect.stringContaining("load this page again")])
    const wrong = await write([() => new Response("", { status: 403 })])
    expect([wrong.asked.length, wrong.refusal]).toEqual([1, expect.stringContaining("not the archive password")])
    const busy = await write([() => new Response("", { status: 503, headers: { "retry-after": "5" } }), rest(0)])
    expect([busy.asked.length, busy.refusal]).toEqual([2, null])
    const away = await write([])
    expect([away.asked.length, away.refusal]).toEqual([5, expect.stringContaining("again and again")])
  })
})
