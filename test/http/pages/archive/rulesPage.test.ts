import { describe, expect, layer } from "@effect/vitest"
import { Effect } from "effect"
import * as crypto from "node:crypto"
import * as Deletions from "../../../support/archive/deletions.ts"
import { accountTarget, makeRule } from "../../../support/archive/rules.ts"
import * as Pages from "../../../support/http/pages.ts"
import { postgres } from "../../../support/postgres/database.ts"
import * as World from "../../../support/world.ts"

const path = "/console/archive-rules"

/** An organization with two accounts, and the page of its rules as its owner sees it. */
const stage = Effect.fnUntraced(function*() {
  const { admins, id } = yield* World.makeOrganization()
  const account = yield* World.makeAccount(id, { first_name: "Ada" })
  const other = yield* World.makeAccount(id, { first_name: "Bela" })
  const { key } = admins.owner
  const cookie = yield* Pages.signIn(id, admins.owner.id)
  const see = (query = "") => Pages.visit("GET", `${path}${query}`, { cookie })
  /** Sends a form of the page as it is filled in, with some members changed. */
  const send = Effect.fnUntraced(
    function*(name: string, form: Readonly<Record<string, string>>, about = "", query = "") {
      const { hidden } = Pages.formOf(yield* see(query), `${path}${name}`, about)
      return yield* Pages.visit("POST", `${path}${name}`, { cookie, form: { ...hidden, ...form } })
    }
  )
  const rules = Effect.map(World.get("/v1/archive/rules", key), ({ body }) => body.data)
  return { account, admins, id, other, rules, see, send }
})

const words = ({ text }: Pages.Page) => text.replaceAll(/<[^>]*>/g, " ").replaceAll(/\s+/g, " ")

/** The new decision of a rule, as a browser sends it. */
const changed = { effect: "archive", media: "all", live: "yes", decision: "save" }

describe("the page of the archive's rules", () => {
  layer(World.world(postgres))((it) => {
    it.effect("makes a rule with a largest file in MB, and refuses what is no size by its field", () =>
      Effect.gen(function*() {
        const { rules, see, send } = yield* stage()
        const form = { ...changed, target: "organization", chat_type: "group", decision: "make" }
        for (const max_mb of ["much", "-1", "5000"]) {
          const refused = yield* send("", { ...form, max_mb })
          expect(refused.status).toBe(400)
          expect(refused.text).toContain(`<a href="#max_mb">`)
          expect(refused.text).toContain(`value="${max_mb}"`)
        }
        expect(yield* rules).toEqual([])
        yield* send("", { ...form, max_mb: "2.5" })
        expect(yield* rules).toMatchObject([{ max_file_bytes: 2_500_000, media: "all" }])
        const shown = yield* see()
        expect(words(shown)).toContain("Archive, with files up to 2.5 MB, as messages arrive")
        expect(Pages.formOf(shown, `${path}/change`).markup).toContain(`value="2.5"`)
      }))

    it.effect("changes a rule: without a size there is no limit", () =>
      Effect.gen(function*() {
        const { id, rules, see, send } = yield* stage()
        const rule = yield* makeRule(id, "any", { maxFileBytes: 5 })
        const refused = yield* send("/change", { ...changed, max_mb: "x" })
        expect(refused.text).toContain(`<a href="#max_mb${rule}">`)
        yield* send("/change", { effect: "skip", max_mb: "0.000007", decision: "save" })
        expect(yield* rules).toMatchObject([
          { id: rule, effect: "skip", media: "none", max_file_bytes: 7, live: false }
        ])
        expect(words(yield* see())).toContain("Skip, without files, at night")
        const led = Pages.ledTo(yield* send("/change", { ...changed, max_mb: "" }))
        expect(led).toContain("done=changed")
        expect(yield* rules).toMatchObject([{ effect: "archive", media: "all", max_file_bytes: null, live: true }])
      }))

    it.effect("counts what a changed rule would decide, and changes nothing", () =>
      Effect.gen(function*() {
        const { account, id, rules, send } = yield* stage()
        yield* makeRule(id, "any", { effect: "skip" })
        yield* makeRule(id, "group", { effect: "skip" })
        for (const [chat, type] of (["private", "private", "group"] as const).entries()) {
          yield* Deletions.addRow("archive_chat", id, {
            account_id: account,
            chat_id: BigInt(chat + 1),
            type,
            ref: `chat ${chat}`,
            effect: "skip"
          })
        }
        const counted = yield* send("/change", { ...changed, decision: "count", max_mb: "3" }, "All chats")
        expect(words(counted)).toContain("With this rule 2 of 3 known chats are archived: 2 more than now")
        expect(Pages.formOf(counted, `${path}/change`, "Groups").markup).not.toContain("With this rule")
        const { markup } = Pages.formOf(counted, `${path}/change`, "All chats")
        expect(markup).toContain(`value="3"`)
        expect(markup).toContain(`<option value="archive" selected>`)
        expect(yield* rules).toMatchObject([{ effect: "skip" }, { effect: "skip" }])
      }))

    it.effect("counts and refuses where the rule stands, on whatever page", () =>
      Effect.gen(function*() {
        const { account, id, see, send } = yield* stage()
        const chatIds = Array.from({ length: 51 }, (_, place) => BigInt(place + 1))
        yield* World.addRows(
          "archive_rule",
          id,
          chatIds.map((chat_id) => ({
            rule_id: crypto.randomUUID(),
            level: "account",
            target: account,
            chat_type: null,
            chat_id,
            effect: "review",
            media: "all",
            max_file_bytes: null,
            live: true,
            updated_at: new Date(0),
            updated_by: null
          }))
        )
        const next = /href="[^"]*\?(after=[^"]*)">Next page/.exec((yield* see()).text)?.[1] ?? ""
        for (
          const [more, said] of [[{ decision: "count" }, "With this rule 0 of 0"], [
            { max_mb: "x" },
            "Give a size"
          ]] as const
        ) {
          const shown = yield* send("/change", { ...changed, ...more }, "Chat 51", `?${next}`)
          expect(words(shown)).toContain(said)
          expect(Pages.formOf(shown, `${path}/change`).markup).toContain(said)
        }
      }))

    it.effect("deletes a rule, and no other", () =>
      Effect.gen(function*() {
        const { id, rules, send } = yield* stage()
        const kept = yield* makeRule(id, "any")
        yield* makeRule(id, "group")
        const led = Pages.ledTo(yield* send("/delete", {}, "Groups"))
        expect(led).toContain("done=deleted")
        expect(yield* rules).toMatchObject([{ id: kept }])
      }))

    it.effect("names the account of an account's rules, and makes one where the account's page leads there", () =>
      Effect.gen(function*() {
        const { account, other, rules, see, send } = yield* stage()
        yield* send(
          "",
          { ...changed, target: `account:${account}`, chat_type: "bot", max_mb: "", decision: "make" },
          "",
          `?account=${account}`
        )
        expect(yield* rules).toMatchObject([{ ...accountTarget(account), selector: { chat_type: "bot" } }])
        const { text } = yield* see()
        expect(text).toContain(`<a href="/console/accounts/${account}">Account <bdi dir="auto">Ada</bdi></a>`)
        expect(text).not.toContain("Bela")
        const asked = yield* see(`?account=${other}`)
        expect(Pages.formOf(asked, path).markup).toContain(`<option value="account:${other}" selected>Bela</option>`)
      }))

    it.effect("has the forms of the rules that the admin may change, and says who may change which", () =>
      Effect.gen(function*() {
        const { account, admins, id, other, rules } = yield* stage()
        const everybody = yield* makeRule(id, "any")
        const own = yield* makeRule(id, "group", { target: account })
        yield* makeRule(id, "group", { target: other })
        yield* World.set(id, "admin", admins.admin.id, { archive_access: true })
        for (const [role, effect] of [["admin", "review"], ["archive", "skip"]] as const) {
          yield* World.grant(id, admins[role].id, { accounts: [account] })
          const cookie = yield* Pages.signIn(id, admins[role].id)
          const shown = yield* Pages.visit("GET", path, { cookie })
          expect(words(shown)).toContain("those of single accounts that they can access")
          expect(words(shown)).toContain("The whole organization")
          expect(shown.text).not.toContain("Bela")
          const { hidden } = Pages.formOf(shown, `${path}/change`)
          expect(hidden["rule_id"]).toBe(own)
          expect(shown.text).not.toContain(`value="${everybody}"`)
          yield* Pages.visit("POST", `${path}/change`, { cookie, form: { ...hidden, ...changed, effect } })
          expect((yield* rules).find((rule: { readonly id: string }) => rule.id === own).effect).toBe(effect)
          const begun = yield* Pages.visit("GET", `${path}?account=${account}`, { cookie })
          expect(Pages.formOf(begun, path).markup).not.toContain("The whole organization")
        }
        const billing = yield* Pages.signIn(id, admins.billing.id)
        const explained = yield* Pages.visit("GET", path, { cookie: billing })
        expect(words(explained)).toContain("those of single accounts that they can access")
        expect(explained.text).not.toContain("<form method=\"post\" action=\"/console/archive-rules")
      }))
  })
})
