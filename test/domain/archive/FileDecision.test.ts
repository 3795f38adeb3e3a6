import { describe, expect, it } from "@effect/vitest"
import type { RuleInEffect } from "../../../src/domain/archive/ArchiveRule.ts"
import { skipReason } from "../../../src/domain/archive/FileDecision.ts"
import { select } from "../../../src/domain/archive/RuleSelection.ts"

const chat = { protected: false }
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

  it("of a protected chat that continues another one is archived by the rule that names the other", () => {
    const [former, successor] = [7n, -1_000_000_000_007n]
    const named: RuleInEffect = {
      ...rule,
      chatId: former,
      chatType: null,
      effect: "archive",
      level: "account",
      live: true,
      ruleId: "named"
    }
    const general: RuleInEffect = { ...named, chatId: null, chatType: "any", level: "organization", ruleId: "general" }
    const rules = [named, general]
    const predecessor = select(rules, { chatId: former, type: "group", predecessor: null })
    const { ruleId } = select(rules, { chatId: successor, type: "group", predecessor })
    const decisive = rules.find((one) => one.ruleId === ruleId)
    expect(skipReason(file, { protected: true }, decisive)).toBeNull()
    expect(skipReason(file, { protected: true }, general)).toBe("protected")
  })

  it("that is shown once is never archived", () => {
    expect(skipReason({ ...file, once: true }, chat, rule)).toBe("once")
  })
})
