import { describe, expect, it } from "@effect/vitest"
import type { RuleInEffect } from "../../../src/domain/archive/ArchiveRule.ts"
import { select } from "../../../src/domain/archive/RuleSelection.ts"

const group = { chatId: -201n, type: "group" as const }
const successor = { chatId: -1_000_000_000_301n, type: "channel" as const }

type Named = Pick<RuleInEffect, "chatId" | "chatType" | "effect" | "level">

const rule = ({ chatId, chatType, effect, level }: Named): RuleInEffect => ({
  ruleId: `${level} ${chatId ?? chatType} ${effect}`,
  level,
  chatId,
  chatType,
  effect,
  media: "none",
  maxFileBytes: null,
  live: true
})

const ofType = (level: Named["level"], chatType: Named["chatType"], effect: Named["effect"]) =>
  rule({ level, chatType, chatId: null, effect })
const ofChat = (chatId: bigint, effect: Named["effect"]) => rule({ level: "account", chatType: null, chatId, effect })

/** The decision about the chat that continues the group. */
const ofSuccessor = (...rules: ReadonlyArray<RuleInEffect>) =>
  select(rules, { ...successor, predecessor: select(rules, { ...group, predecessor: null }) }).ruleId

describe("a chat that continues another one", () => {
  it("is judged by the rule that names it, else by the one that names the other", () => {
    const any = ofType("account", "any", "skip")
    const other = ofChat(group.chatId, "archive")
    const own = ofChat(successor.chatId, "review")
    expect(ofSuccessor(any, other)).toBe(other.ruleId)
    expect(ofSuccessor(ofType("account", "channel", "skip"), other)).toBe(other.ruleId)
    expect(ofSuccessor(any, other, own)).toBe(own.ruleId)
  })

  it("is judged by the rule that names its type, where none names one of the two", () => {
    const channels = ofType("organization", "channel", "archive")
    expect(ofSuccessor(channels)).toBe(channels.ruleId)
    expect(ofSuccessor(channels, ofType("organization", "group", "skip"))).toBe(channels.ruleId)
    expect(ofSuccessor(channels, ofType("organization", "any", "skip"))).toBe(channels.ruleId)
  })

  it("is judged like the other one, where no rule names it or its type", () => {
    const groups = ofType("organization", "group", "archive")
    expect(ofSuccessor(groups)).toBe(groups.ruleId)
    expect(ofSuccessor(groups, ofType("organization", "any", "skip"))).toBe(groups.ruleId)
    expect(ofSuccessor()).toBeNull()
  })

  it("is judged by the level that is nearest to it, where no type is named", () => {
    const nearest = ofType("department", "any", "archive")
    expect(ofSuccessor(nearest, ofType("organization", "group", "skip"))).toBe(nearest.ruleId)
  })
})
