import { describe, expect, layer } from "@effect/vitest"
import { Effect } from "effect"
import { TestClock } from "effect/testing"
import * as crypto from "node:crypto"
import type { Role } from "../../../../src/domain/people/Access.ts"
import { CaptureStore } from "../../../../src/ports/archive/CaptureStore.ts"
import * as Deletions from "../../../support/archive/deletions.ts"
import * as Fixtures from "../../../support/fixtures.ts"
import * as Pages from "../../../support/http/pages.ts"
import { postgres } from "../../../support/postgres/database.ts"
import { at, hour, now } from "../../../support/stored.ts"
import * as World from "../../../support/world.ts"

const minute = hour / 60
const rules = "/console/archive-rules"

/** An organization with one live account, and its page as a role sees it. */
const stage = Effect.fnUntraced(function*(facts: Record<string, unknown> = {}, organization = {}) {
  yield* TestClock.setTime(now.getTime())
  const { admins, id } = yield* World.makeOrganization(organization)
  const account = yield* World.makeLiveAccount(id, { first_name: "Ada" }, { facts })
  const see = Effect.fnUntraced(function*(to: string, role: Role = "owner") {
    return yield* Pages.visit("GET", to, { cookie: yield* Pages.signIn(id, admins[role].id) })
  })
  const own = `/console/accounts/${account.id}`
  return { account: { organizationId: id, accountId: account.id }, admins, id, own, see }
})

/** The words of the archive's section, without markup. */
const words = ({ text }: Pages.Page): string =>
  (/<section aria-labelledby="archive">[^]*?<\/section>/.exec(text)?.[0] ?? "").replaceAll(/<[^>]*>/g, " ")
    .replaceAll(/\s+/g, " ").replaceAll(/ (?=[.,:])/g, "")

const refreshes = ({ text }: Pages.Page): boolean => text.includes("Refresh this page every 30 seconds")

describe("the archive on the page of an account", () => {
  layer(World.world(postgres))((it) => {
    it.effect("a run shows its step, a bar of its chats and when it began, and its rate and time left once they are known", () =>
      Effect.gen(function*() {
        const { account, id, own, see } = yield* stage()
        const store = yield* CaptureStore
        const says = (
          phase: "dialogs" | "messages" | "media" | "finishing",
          done: number,
          total: number | null,
          when: Date,
          chat: string | null = null
        ) => Fixtures.within(id, store.report(account, { phase, done, total, chat }, when))
        yield* Fixtures.within(id, store.begin(account, at(-hour)))
        const begun = yield* see(own)
        expect(words(begun)).toContain("A backup is running. Getting started. It started 1 hour ago.")
        expect([refreshes(begun), begun.text.includes("<progress")]).toEqual([true, false])
        yield* says("dialogs", 50, 120, at(-50 * minute))
        expect(words(yield* see(own))).toContain("Looking through the chats: 50 of 120 chats.")
        // Chats that were complete before the phase began are no part of its rate.
        yield* says("messages", 11, 96, at(-30 * minute))
        expect(words(yield* see(own))).not.toContain("At about")
        yield* says("messages", 41, 96, at(0), "<i>Board</i>")
        const read = yield* see(own)
        expect(read.text).toContain(`It reads <bdi dir="auto">&lt;i&gt;Board&lt;/i&gt;</bdi>.`)
        expect((yield* see(own, "billing")).text).not.toContain("Board")
        expect(read.text).toContain(`<progress aria-label="Chats done" max="96" value="41"></progress>`)
        expect(words(read)).toContain("Reading messages: 41 of 96 chats.")
        expect(words(read)).toContain("At about 60 chats an hour, its messages take about 55 minutes more")
        yield* says("media", 3, 7, at(0))
        const media = yield* see(own)
        expect(words(media)).toContain("Saving files: 3 of 7 files. It started")
        expect(media.text).toContain(`<progress aria-label="Files done" max="7" value="3"></progress>`)
        expect(media.text).not.toContain("At about")
        yield* says("messages", 41, 96, at(-20_000))
        yield* says("messages", 60, 96, at(0))
        expect(words(yield* see(own))).not.toContain("At about")
        yield* Fixtures.within(
          id,
          store.end(account, { askedAt: null, done: true, error: null, nextAt: at(hour), retryAt: null }, at(0))
        )
        const ended = yield* see(own)
        expect([refreshes(ended), words(ended).includes("A backup")]).toEqual([false, false])
      }))

    it.effect("messages are counted of the chats that the messenger has counted, and give the time left once those are all", () =>
      Effect.gen(function*() {
        const { account, id, own, see } = yield* stage({ archive_messages: 1000, archive_bytes: 5_000_000 })
        const store = yield* CaptureStore
        const report = (phase: "messages" | "media", done: number, total: number, when: Date) =>
          Fixtures.within(id, store.report(account, { phase, done, total, chat: null }, when))
        const archive = (messages: number, bytes: number) =>
          World.query(
            id,
            (sql) => sql`update archive_state set archive_messages = ${messages}, archive_bytes = ${bytes}`
          )
        const addChat = (chat: Record<string, unknown>) =>
          Deletions.addRow("archive_chat", id, {
            account_id: account.accountId,
            type: "private",
            ref: "common:1",
            ...(Number(chat["messages"]) > 0 ? { first_id: 1, last_id: 9 } : {}),
            ...chat
          })
        yield* Fixtures.within(id, store.begin(account, at(-hour)))
        yield* report("messages", 0, 3, at(-10 * minute))
        // Messages that are gone from the messenger stay archived: the second chat has more than it counts.
        yield* addChat({ chat_id: 1, messages: 1500, counted: 4000 })
        yield* addChat({ chat_id: 2, messages: 500, counted: 400 })
        yield* addChat({ chat_id: 3, messages: 0 })
        yield* addChat({ chat_id: 4, messages: 70, counted: 9000, effect: "skip" })
        yield* archive(2000, 6_000_000)
        yield* report("messages", 1, 3, at(0))
        const opened = yield* see(own)
        expect(words(opened)).toContain(
          "Reading messages: 1 of 3 chats, and 2,000 of about 4,500 messages in the chats opened so far."
        )
        expect(opened.text).toContain(`<progress aria-label="Messages archived" max="4500" value="2000"></progress>`)
        expect(words(opened)).toContain("chats an hour")
        yield* World.query(id, (sql) => sql`update archive_chat set counted = 500 where chat_id = 3`)
        const counted = words(yield* see(own))
        expect(counted).toContain("Reading messages: 1 of 3 chats, and 2,000 of about 5,000 messages.")
        expect(counted).toContain("At about 100 messages a minute, the rest takes about 30 minutes more")
        yield* report("media", 0, 40, at(-2 * minute))
        yield* archive(2000, 30_000_000)
        yield* report("media", 10, 40, at(0))
        const files = words(yield* see(own))
        expect(files).toContain("Saving files: 10 of 40 files, 24 MB so far.")
        expect(files).toContain("At about 5 files a minute, they take about 6 minutes more")
      }))

    it.effect("a run that waits, and one that failed, are said in words with their times", () =>
      Effect.gen(function*() {
        const queued = yield* stage({ archive_queued_at: at(-2 * minute) })
        const page = yield* queued.see(queued.own)
        expect(words(page)).toContain("A backup waits for its turn. It was asked for 2 minutes ago.")
        expect(refreshes(page)).toBe(true)
        const failed = yield* stage({ archive_error: "messenger_refused", archive_retry_at: at(5 * minute) })
        const said = words(yield* failed.see(failed.own))
        expect(said).toContain(
          "The last backup failed: the messenger refused to answer. It is tried again in 5 minutes."
        )
        expect(said).toContain("New messages are perhaps not saved because the last backup failed.")
        const hostile = yield* stage({ archive_error: "<b>disk</b>", archive_next_backup_at: at(3 * hour) })
        const shown = yield* hostile.see(hostile.own)
        expect(shown.text).toContain("&lt;b&gt;disk&lt;/b&gt;")
        expect(words(shown)).toContain("It is tried again in 3 hours.")
        expect([words(shown).includes("Next check"), words(shown).includes("Back up now")]).toEqual([true, true])
        const full = yield* stage({ archive_next_backup_at: at(3 * hour) })
        yield* World.set(full.id, "organization", full.id, { storage_limit_bytes: 0 })
        const stopped = words(yield* full.see(full.own))
        expect([stopped.includes("Next check"), stopped.includes("Back up now")]).toEqual([false, false])
      }))

    it.effect("files that could not be saved are counted by the reason", () =>
      Effect.gen(function*() {
        const { account, id, own, see } = yield* stage()
        const states = [
          ["failed", "refused"],
          ["failed", "gone"],
          ["failed", "gone"],
          ["skipped", "rule"],
          ["pending", null]
        ]
        yield* Effect.forEach(states, ([state, reason]) =>
          World.query(id, (sql) =>
            sql`insert into archive_file
              (organization_id, account_id, file_id, chat_id, message_id, day, state, reason, at)
              values (${id}, ${account.accountId}, ${crypto.randomUUID()}, 1, 1, '2026-01-01', ${state}, ${reason}, ${
              at(0)
            })`))
        expect(words(yield* see(own)))
          .toContain("Files not saved 2 no longer on the messenger, 1 refused by the messenger")
      }))

    it.effect("chats whose messages disappear before the nightly check, and are not archived as they arrive, are not safe", () =>
      Effect.gen(function*() {
        const { account, id, own, see } = yield* stage()
        const store = yield* CaptureStore
        const chats = [
          { chat_id: 1, live: false, hours: 24 },
          { chat_id: 2, live: true, hours: 24 },
          { chat_id: 3, live: false, hours: 24 * 7 },
          { chat_id: 4, live: false, hours: 24, effect: "skip" }
        ]
        for (const { hours, ...chat } of chats) {
          yield* Deletions.addRow("archive_chat", id, { account_id: account.accountId, type: "private", ...chat })
          const message = { id: 1n, sentAt: at(0), expiresAt: at(hours * hour) }
          yield* Fixtures.within(id, store.expect(account, BigInt(chat.chat_id), [message]))
        }
        expect(words(yield* see(own))).toContain(
          "Not safe 1 chat whose messages may disappear before the nightly check"
        )
        yield* TestClock.setTime(at(25 * hour).getTime())
        expect(words(yield* see(own))).not.toContain("Not safe")
      }))

    it.effect("the chats, messages, files and the size are counted, and what stops saving comes with what to do", () =>
      Effect.gen(function*() {
        const { account, id, own, see } = yield* stage({
          archive_chats_discovered: 1200,
          archive_chats_selected: 41,
          archive_chats_with_data: 40,
          archive_chats_complete: 39,
          archive_chats_review: 3,
          archive_messages: 12_345,
          archive_media: 67,
          archive_bytes: 1_230_000_000,
          paused_at: at(-hour),
          monitoring_state: "stopped"
        })
        const page = yield* see(own)
        const said = words(page)
        for (
          const part of [
            "1,200 found, 41 selected, 40 with messages, 39 complete, 3 to review",
            "Messages 12,345 Files 67 Size 1.23 GB",
            "New messages are not saved because protection is paused. Resume its protection"
          ]
        ) expect(said).toContain(part)
        expect(page.text).toContain(`<a href="/console/archive?account=${account.accountId}">3 to review</a>`)
        const solved = [
          [{ archive_key_set: false }, {}, "archive-key\">the archive password"],
          [{ storage_limit_bytes: 10, storage_used_bytes: 10 }, {}, `${rules}#storage">what takes the storage`],
          [{ plan: "protect" }, {}, "organization/subscription\">Subscription"],
          [
            {},
            { stopped_at: at(-hour), stop_reason: "session_lost", monitoring_state: "stopped" },
            "#protection\">Protection"
          ],
          [{}, { archive_cleanup_running: true }, "archive-cleanups\">Cleanups"]
        ] as const
        for (const [organization, facts, link] of solved) {
          const other = yield* stage(facts, organization)
          expect([link, (yield* other.see(other.own)).text.includes(link)]).toEqual([link, true])
        }
        expect(words(yield* see(own, "billing"))).toBe("")
        expect(yield* World.changes(id)).toEqual([])
      }))
  })
})

describe("the page of the archive's rules", () => {
  layer(World.world(postgres))((it) => {
    it.effect("rules stand under what they are for, with what its other chats follow", () =>
      Effect.gen(function*() {
        const { account, id, see } = yield* stage()
        const department = yield* World.makeDepartment(id, "Sales")
        const rule = {
          effect: "archive",
          media: "all",
          max_file_bytes: null,
          live: true,
          updated_by: null,
          chat_id: null
        }
        const targets = [["account", account.accountId], ["department", department], ["organization", null]] as const
        yield* World.addRows(
          "archive_rule",
          id,
          targets.flatMap(([level, target]) =>
            ["any", "group"].map((chat_type) => ({
              ...rule,
              rule_id: crypto.randomUUID(),
              level,
              target,
              chat_type,
              updated_at: at(0)
            }))
          )
        )
        const found = (yield* see(rules)).text.replaceAll(/<\/?(?:bdi|a)\b[^>]*>/g, "")
        const groups = [...found.matchAll(/<h2 id="rules-\d">([^<]*)<\/h2>([^]*?)(?=<h2)/g)]
        expect(
          groups.map(([, title, text]) => [title, text?.match(/<h3>/g)?.length, text?.includes("follow the rules")])
        )
          .toEqual([
            ["The whole organization", 2, false],
            ["Department Sales", 2, true],
            ["Account Ada Lovelace", 2, true]
          ])
      }))

    it.effect("what cannot be archived is said there, and the page of an account leads to it", () =>
      Effect.gen(function*() {
        const { own, see } = yield* stage()
        for (const role of ["owner", "archive"] as const) {
          expect((yield* see(rules, role)).text).toContain("<li>Secret chats, and the sound of calls.</li>")
        }
        expect((yield* see(own)).text).toContain(`<a href="${rules}#not-archived">`)
      }))

    it.effect("the ten accounts that take most come first, beside the limit, as far as the admin can access them", () =>
      Effect.gen(function*() {
        const { account, admins, id, see } = yield* stage({ archive_bytes: 500 }, {
          storage_limit_bytes: 100_000,
          storage_used_bytes: 91_000
        })
        for (let n = 1; n <= 11; n++) {
          yield* World.makeAccount(id, { first_name: `N${n}`, last_name: null, facts: { archive_bytes: n * 1000 } })
        }
        const names = ({ text }: Pages.Page, section: string) =>
          [...(text.split(`<h2 id="${section}">`)[1] ?? "").split("</section>")[0]!.matchAll(
            /<li><a href="([^"]*)"><bdi dir="auto">([^<]*)<\/bdi><\/a> <span class="hint">([^<]*)/g
          )].map(([, , name, said]) => [name, said])
        const page = yield* see(rules)
        expect(names(page, "storage")).toEqual(
          [11, 10, 9, 8, 7, 6, 5, 4, 3, 2].map((n) => [`N${n}`, `${n} kB: 0 messages, 0 files`])
        )
        expect(page.text).toContain("91 kB of 100 kB used, 91 %.")
        expect(page.text).toContain(`<progress aria-label="Storage used" max="100000" value="91000"></progress>`)
        expect(page.text).toContain("Nearly full")
        yield* World.grant(id, admins.archive.id, { accounts: [account.accountId] })
        const granted = yield* see(rules, "archive")
        expect(names(granted, "storage").map(([, said]) => said)).toEqual(["500 B: 0 messages, 0 files"])
        expect((yield* see(rules, "billing")).text).not.toContain("id=\"storage\"")
      }))

    it.effect("accounts with chats to review lead to their archive, for who may read it", () =>
      Effect.gen(function*() {
        const { account, admins, id, see } = yield* stage({ archive_chats_review: 2 })
        yield* World.makeAccount(id, { facts: { archive_chats_review: 0 } })
        const page = yield* see(rules)
        const to = `/console/archive?account=${account.accountId}`
        expect(page.text.match(/\/console\/archive\?account=[^"]*/g)).toEqual([to])
        expect(page.text).toContain("2 chats")
        yield* World.grant(id, admins.admin.id, { accounts: [account.accountId] })
        expect((yield* see(rules, "admin")).text).not.toContain(to)
        yield* World.set(id, "admin", admins.admin.id, { archive_access: true })
        expect((yield* see(rules, "admin")).text).toContain(to)
      }))
  })
})
