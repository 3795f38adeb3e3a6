import { describe, expect, it } from "@effect/vitest"
import { skipReason } from "../../../src/domain/archive/FileDecision.ts"

const chat = { chatId: 5n, protected: false }
const rule = { chatId: null, media: "all" as const, maxFileBytes: 100 }
const file = { bytes: 100, once: false }

describe("a file of a message", () => {
  it("is archived where a rule has the chat's files, up to its size", () => {
    expect(skipReason(file, chat, rule)).toBeNull()
    expect(skipReason({ ...file, bytes: 101 }, chat, rule)).toBe("size")
    expect(skipReason({ ...file, bytes: 101 }, chat, { ...rule, maxFileBytes: null })).toBeNull()
    expect(skipReason(file, chat, { ...rule, media: "none" })).toBe("rule")
    expect(skipReason(file, chat, undefined)).toBe("rule")
  })

  it("of a chat that asks not to save from it is archived by a rule for this chat alone", () => {
    const guarded = { ...chat, protected: true }
    expect(skipReason(file, guarded, rule)).toBe("protected")
    expect(skipReason(file, guarded, { ...rule, chatId: 5n })).toBeNull()
  })

  it("that is shown once is never archived", () => {
    expect(skipReason({ ...file, once: true }, chat, rule)).toBe("once")
  })
})
