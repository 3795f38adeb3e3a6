/** The rules of the archive: which chats are archived, and with which files. */
import { Effect } from "effect"
import { AccountId, accountName } from "../../../domain/accounts/Account.ts"
import { type ArchiveRule, RuleId } from "../../../domain/archive/ArchiveRule.ts"
import { ResourceMissing } from "../../../domain/Failure.ts"
import { isUuid } from "../../../domain/JsonShapes.ts"
import { Caller, superadmins } from "../../../domain/people/Access.ts"
import type { Department } from "../../../domain/people/Department.ts"
import { createArchiveRule } from "../../../operations/archive/create_archive_rule.ts"
import { deleteArchiveRule } from "../../../operations/archive/delete_archive_rule.ts"
import { listArchiveRules } from "../../../operations/archive/list_archive_rules.ts"
import { previewArchiveRule } from "../../../operations/archive/preview_archive_rule.ts"
import { updateArchiveRule } from "../../../operations/archive/update_archive_rule.ts"
import { Accounts } from "../../../ports/accounts/Accounts.ts"
import { Db } from "../../../ports/Db.ts"
import * as Fields from "../kit/Fields.ts"
import * as Form from "../kit/Form.ts"
import * as Forms from "../kit/Forms.ts"
import * as Frame from "../kit/Frame.ts"
import * as Html from "../kit/Html.ts"
import { html } from "../kit/Html.ts"
import * as Lists from "../kit/Lists.ts"
import type { AdminPage } from "../kit/PageRequest.ts"
import * as Tabs from "../organization/OrganizationTabs.ts"
import * as Rules from "./ArchiveRuleForms.ts"
import * as ArchiveUse from "./ArchiveUse.ts"
import { notArchived } from "./SavingWords.ts"

const { path } = Rules

const whole = "organization"
const ofAccount = "account:"

/** The address of the page for a new rule of an account, which its page links to. */
export const addressFor = (accountId: string): string => `${Lists.address(path, { account: accountId })}#new`

/** The names of what rules are about, by id. */
interface Names {
  readonly departments: ReadonlyArray<Department>
  readonly accounts: ReadonlyMap<string, string>
}

/** The names of those of the accounts that the admin can access. */
const accountNames = Effect.fnUntraced(function*(ids: ReadonlyArray<string>) {
  const caller = yield* Caller
  const accounts = yield* Accounts
  const found = yield* (yield* Db).read(
    caller.organizationId,
    Effect.forEach(new Set(ids), (id) => accounts.find(caller, AccountId.make(id), false), { concurrency: "unbounded" })
  )
  return new Map<string, string>(
    found.flatMap((account) => account === null ? [] : [[account.id, accountName(account)] as const])
  )
})

const targetOf = ({ target }: ArchiveRule, { accounts, departments }: Names): Html.Value => {
  if (target.level === "organization") return "The whole organization"
  if (target.level === "account") return html`Account ${Html.named(accounts.get(target.id ?? "") ?? "that is gone")}`
  const department = departments.find(({ id }) => id === target.id)
  return html`Department ${Html.named(department?.name ?? "that is gone")}`
}

/** The rules of one target, under its name, with what decides on the chats that they do not name. */
const group = (
  view: AdminPage,
  names: Names,
  rules: ReadonlyArray<ArchiveRule>,
  place: number,
  row: (target: Html.Value) => (rule: ArchiveRule) => Html.Html
): Html.Html | undefined => {
  const [first] = rules
  if (first === undefined) return undefined
  const { target } = first
  const id = `rules-${place}`
  const named = targetOf(first, names)
  const isKnown = names.accounts.has(target.id ?? "")
  const inherited = {
    organization: undefined,
    department: html`<p class="hint">Its other chats follow the rules of the organization.</p>`,
    account: html`<p class="hint">Its other chats follow the rules of its department, and of the organization.</p>`
  }
  return html`<h2 id="${id}">${
    isKnown ? html`<a href="${view.visit.base}/console/accounts/${target.id ?? ""}">${named}</a>` : named
  }</h2>
  ${inherited[target.level]}
  <ul class="plain" aria-labelledby="${id}">${rules.map(row(named))}</ul>`
}

const lead = html`
<p class="lead">The most specific rule decides: of a chat, of an account, of its department, of the organization; and one for a kind of chats before one for all. A chat without a rule is not archived and waits for a decision.</p>`

const setters = html`
<p class="hint">The owner and superadmins set the rules of the organization, departments and accounts; admins with access to the archive those of single accounts that they can access.</p>`

/** The page for admins without access to the archive. */
const explain = (view: AdminPage, use: Html.Html | undefined) =>
  Frame.page(view, {
    title: "Archive rules",
    body: html`
<h1>Archive rules</h1>
${Tabs.nav(view.visit.base, path)}
${lead}
${setters}
${notArchived}
${use}`
  })

const ruleOf = (form: Form.Sent["form"]) => {
  const target = form.text("target")
  return {
    target: target === whole
      ? { level: "organization" as const, id: null }
      : target.startsWith(ofAccount)
      ? { level: "account" as const, id: target.slice(ofAccount.length) }
      : { level: "department" as const, id: target },
    selector: { chat_type: Rules.chosen(Rules.chatTypes, form.text("chat_type")), chat_id: null }
  }
}

/** The accounts and chats of a rule that there is, as those of a new one. */
const scopeOf = ({ selector, target }: ArchiveRule) => ({
  target: target.level === "organization"
    ? { level: target.level, id: null }
    : { level: target.level, id: target.id ?? "" },
  selector: selector.chat_type === null
    ? { chat_type: null, chat_id: selector.chat_id ?? "" }
    : { chat_type: selector.chat_type, chat_id: null }
})

/** The counts that the sent form asks for; undefined where it asks for none. */
const preview = Effect.fnUntraced(function*({ form, searched, sent }: Form.Outcome, data: ReadonlyArray<ArchiveRule>) {
  if (searched !== true || sent === undefined) return undefined
  const about = data.find(({ id }) => id === sent.text("rule_id"))
  const scope = form === "" ? ruleOf(sent) : about === undefined ? undefined : scopeOf(about)
  return scope === undefined ? undefined : yield* previewArchiveRule.call({ ...scope, effect: Rules.effectOf(sent) })
})

/** The form of a new rule, for what the admin may make one for; without anything, how one is begun. */
const newRule = (
  view: AdminPage,
  targets: ReadonlyArray<readonly [value: string, name: string]>,
  asked: string,
  outcome: Form.Outcome,
  counts: Html.Html | undefined
): Html.Html => {
  const own = outcome.form === "" ? outcome : Form.none
  const sent = (name: string, or: string) => own.sent?.text(name) ?? or
  return targets.length === 0
    ? html`<p class="hint">A rule for a single account begins on the account’s page.</p>`
    : Forms.open(
      view,
      { path },
      html`${Fields.select(own.faults, { name: "target", label: "Accounts" }, targets, sent("target", asked))}
        ${Fields.select(own.faults, { name: "chat_type", label: "Chats" }, Rules.chatTypes, sent("chat_type", "any"))}
        ${Rules.decisionFields({ effect: "archive", media: "all", max_file_bytes: null, live: true }, own)}
        ${counts}
        <div class="actions">
          <button class="main" name="decision" value="make">Make the rule</button>
          <button name="decision" value="count">Count first</button>
        </div>`
    )
}

/** The account that a new rule is for: that of the address, or of the form that was sent. */
const askedAccount = ({ visit }: AdminPage, { form, sent }: Form.Outcome): ReadonlyArray<string> => {
  const target = form === "" ? sent?.text("target") ?? "" : ""
  const id = target.startsWith(ofAccount)
    ? target.slice(ofAccount.length)
    : new URLSearchParams(visit.query).get("account") ?? ""
  return isUuid(id) ? [id] : []
}

const show = Effect.fnUntraced(function*(view: AdminPage, _: string, outcome: Form.Outcome) {
  const use = yield* ArchiveUse.sections(view)
  const { base, query: text } = view.visit
  if (!view.admin.readsArchive) return yield* explain(view, use)
  const given = new URLSearchParams(text).get("after") ?? outcome.sent?.text("after") ?? ""
  const after = isUuid(given) ? given : undefined
  const { data, has_more } = yield* listArchiveRules.call({
    limit: 50,
    ...(after === undefined ? {} : { starting_after: RuleId.make(after) })
  })
  const asked = askedAccount(view, outcome)
  const departments = yield* Lists.departments
  const ruled = data.flatMap(({ target }) => target.level === "account" && target.id !== null ? [target.id] : [])
  const accounts = yield* accountNames([...ruled, ...asked])
  const names = { accounts, departments }
  const counts = yield* preview(outcome, data)
  const targets: ReadonlyArray<readonly [string, string]> = [
    ...(superadmins.includes(view.admin.role)
      ? [[whole, "The whole organization"] as const, ...departments.map(({ id, name }) => [id, name] as const)]
      : []),
    ...asked.flatMap((id) => accounts.has(id) ? [[`${ofAccount}${id}`, accounts.get(id) ?? ""] as const] : [])
  ]
  const row = (target: Html.Value) => Rules.row(view, target, outcome, { after, preview: counts })
  return yield* Frame.page(view, {
    title: "Archive rules",
    outcome,
    body: html`
<h1>Archive rules</h1>
${Tabs.nav(base, path)}
${Form.notice(outcome)}
${lead}
${setters}
${
      data.length === 0
        ? html`<p class="empty">There are no rules yet: nothing is archived.</p>`
        : [...Map.groupBy(data, ({ target }) => target.id ?? whole).values()]
          .map((rules, place) => group(view, names, rules, place, row))
    }
${Lists.pagingAfter(`${base}${path}`, "Pages of rules", after, { data, has_more })}
<section aria-labelledby="new">
  <h2 id="new">New rule</h2>
  ${
      newRule(
        view,
        targets,
        targets.at(asked.length === 0 ? 0 : -1)?.[0] ?? whole,
        outcome,
        outcome.form === "" && counts !== undefined ? Rules.counted(counts) : undefined
      )
    }
</section>
${notArchived}
${use}`
  })
})

const page = Form.page({
  path,
  show,
  refusals: {
    rule_exists: ["chat_type", "There is a rule for these accounts and chats: change that one above."],
    no_archive_plan: "The plan has no archive.",
    target: ["target", "This department or account is not there any more."]
  }
})

const ruleId = (text: string) =>
  isUuid(text) ? Effect.succeed(RuleId.make(text)) : Effect.fail(new ResourceMissing({ param: "rule_id" }))

export const routes = page.routes([
  page.form({
    name: "",
    pressed: "make",
    submit: ({ form }) =>
      Effect.flatMap(Rules.decisionOf(form), (decision) => createArchiveRule.call({ ...ruleOf(form), ...decision })),
    key: () => "made",
    done: { made: "The rule is made. Chats that it selects are archived within minutes." }
  }),
  page.form({
    name: "change",
    about: "rule_id",
    pressed: "save",
    submit: ({ form }) =>
      Effect.flatMap(
        Effect.all({ decision: Rules.decisionOf(form), rule_id: ruleId(form.text("rule_id")) }),
        ({ decision, rule_id }) => updateArchiveRule.call({ rule_id, ...decision })
      ),
    key: () => "changed",
    done: { changed: "The rule is changed." }
  }),
  page.form({
    name: "delete",
    about: "rule_id",
    submit: ({ form }) =>
      Effect.flatMap(ruleId(form.text("rule_id")), (rule_id) => deleteArchiveRule.call({ rule_id })),
    key: () => "deleted",
    done: { deleted: "The rule is deleted." }
  })
])
