import { describe, expect, it } from "@effect/vitest"
import * as fc from "fast-check"
import { utf8 } from "../../../src/domain/archive/Bytes.ts"
import { decodeRecords, encodeRecords } from "../../../src/domain/archive/Columns.ts"
import { FrameKind } from "../../../src/domain/archive/Epoch.ts"
import { records } from "../../support/archive/archiveRecords.ts"
import { tried } from "../../support/drawn.ts"

const from = { id: "u1", name: "Anna", username: null }
const plain = { n: 1, i: [7], t: [100], a: [101], f: [0], p: [from], k: ["text"], x: ["hello"], e: {} }

const decode = (columns: unknown) => decodeRecords("messages", utf8(JSON.stringify(columns)))

describe("columns of an archive's frame", () => {
  for (const kind of FrameKind.literals) {
    it(`${kind} come back as they were given, with members that this version does not know`, () => {
      fc.assert(
        fc.property(records[kind], (given) => {
          expect(decodeRecords(kind, encodeRecords(kind, given))).toEqual(given)
        }),
        tried(300)
      )
    })
  }

  it("messages name each sender once, times and ids as differences, and details only where there are some", () => {
    const message = { id: 7n, at: 100, archivedAt: 101, from, kind: "text" as const, text: "hello", details: {} }
    const encoded = encodeRecords("messages", [
      message,
      { ...message, id: 9n, at: 90, from: { ...from }, details: { outgoing: true } },
      { ...message, id: 2n ** 63n - 1n, from: null, text: null }
    ])
    expect(JSON.parse(Buffer.from(encoded).toString())).toEqual({
      n: 3,
      i: [7, 2, "9223372036854775798"],
      t: [100, -10, 10],
      a: [101, 0, 0],
      f: [0, 0, -1],
      p: [from],
      k: ["text", "text", "text"],
      x: ["hello", "hello", 0],
      e: { 1: { outgoing: true } }
    })
  })

  it("texts keep half a surrogate pair, which is no UTF-8", () => {
    const [opened] = decodeRecords("messages", utf8(JSON.stringify({ ...plain, x: ["a\ud800b"] }))) ?? []
    expect(opened?.text).toBe("a\ud800b")
    expect(decodeRecords("messages", encodeRecords("messages", opened === undefined ? [] : [opened]))).toEqual([opened])
  })

  it("a member that is a column of a later version is kept, and one that is none is refused", () => {
    expect(decode({ ...plain, z: ["later"] })?.[0]?.unknown).toEqual({ z: "later" })
    for (const z of [[], ["one", "two"], "later", { 0: "later" }, null]) expect(decode({ ...plain, z })).toBeNull()
  })

  it("columns that no writer makes are refused", () => {
    expect(decode(plain)).toHaveLength(1)
    const broken: ReadonlyArray<Record<string, unknown>> = [
      { n: 2 },
      { n: -1 },
      { n: "1" },
      { i: [] },
      { i: [-1] },
      { i: ["9223372036854775808"] },
      { i: ["1x"] },
      { i: [1.5] },
      { t: [-1] },
      { t: [253_402_300_800] },
      { a: [null] },
      { f: [1] },
      { f: [-2] },
      { p: [{ id: "u1" }] },
      { p: {} },
      { k: ["letter"] },
      { x: [1] },
      { x: [null] },
      { e: [] },
      { e: { 1: {} } },
      { e: { "-0": {} } },
      { e: { 0: { caption: 5 } } },
      { e: { 0: null } }
    ]
    expect(broken.filter((part) => decode({ ...plain, ...part }) !== null)).toEqual([])
    for (const value of [null, [], 7, "text", {}]) expect(decode(value)).toBeNull()
    for (const bytes of [new Uint8Array(), utf8("{"), Uint8Array.of(0xff, 0xfe)]) {
      expect(decodeRecords("messages", bytes)).toBeNull()
    }
  })

  it("rows of the other kinds are refused where their number or a member is wrong", () => {
    const chat = { seen_at: 1, title: null, username: null, members_count: null }
    const decodeChat = (columns: unknown) => decodeRecords("chat", utf8(JSON.stringify(columns)))
    expect(decodeChat({ n: 1, r: [chat] })).toEqual([chat])
    for (const columns of [{ n: 2, r: [chat] }, { n: 1 }, { n: 1, r: [{ ...chat, seen_at: -1 }] }, { r: [chat] }]) {
      expect(decodeChat(columns)).toBeNull()
    }
    const deletion = { change: "deleted", seen_at: 1, why: "deleted" }
    for (const id of ["-1", "01", "1e3", "", "18446744073709551616"]) {
      expect(decodeRecords("changes", utf8(JSON.stringify({ n: 1, r: [{ ...deletion, id }] })))).toBeNull()
    }
  })
})
