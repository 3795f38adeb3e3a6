/** The rules of the archive: which chats are archived, and with which files. */
import { Effect } from "effect"
import type { ArchiveRule, RulePreviewCounts } from "../../../domain/archive/ArchiveRule.ts"
import { RuleId } from "../../../domain/archive/ArchiveRule.ts"
import { ResourceMissing } from "../../../domain/Failure.ts"
import { isUuid } from "../../../domain/JsonShapes.ts"
import { superadmins } from "../../../domain/people/Access.ts"
import type { Department } from "../../../domain/people/Department.ts"
import { createArchiveRule } from "../../../operations/archive/create_archive_rule.ts"
import { deleteArchiveRule } from "../../../operations/archive/delete_archive_rule.ts"
import { listArchiveRules } from "../../../operations/archive/list_archive_rules.ts"
import { previewArchiveRule } from "../../../operations/archive/preview_archive_rule.ts"
import { updateArchiveRule } from "../../../operations/archive/update_archive_rule.ts"
import * as Fields from "../kit/Fields.ts"
import * as Form from "../kit/Form.ts"
import * as Forms from "../kit/Forms.ts"
import * as Frame from "../kit/Frame.ts"
import * as Html from "../kit/Html.ts"
import { html } from "../kit/Html.ts"
import * as Lists from "../kit/Lists.ts"
import type { AdminPage } from "../kit/PageRequest.ts"
import * as Tabs from "../organization/OrganizationTabs.ts"
import * as ArchiveUse from "./ArchiveUse.ts"
import { notArchived } from "./SavingWords.ts"

const path = Tabs.archiveRulesPath

const chatTypes = [
  ["any", "All chats"],
  ["private", "Chats with people"],
  ["group", "Groups"],
  ["channel", "Channels"],
  ["bot", "Bots"],
  ["saved", "Own notes"]
] as const

const effects = [["archive", "Archive"], ["skip", "Skip"], ["review", "Decide later"]] as const

const chosen = <const A extends ReadonlyArray<readonly [string, string]>>(all: A, text: string): A[number][0] =>
  all.find(([value]) => value === text)?.[0] ?? all[0]?.[0] ?? ""

const whole = "organization"

const targetOf = ({ target }: ArchiveRule, departments: ReadonlyArray<Department>): Html.Value => {
  if (target.level === "organization") return "The whole organization"
  if (target.level === "account") return "One account"
  const department = departments.find(({ id }) => id === target.id)
  return html`Department ${Html.named(department?.name ?? "that is gone")}`
}

const chatsOf = ({ selector }: ArchiveRule): string =>
  selector.chat_type === null
    ? `Chat ${selector.chat_id ?? ""}`
    : chatTypes.find(([type]) => type === selector.chat_type)?.[1] ?? selector.chat_type

const row = (view: AdminPage, departments: ReadonlyArray<Department>) => (rule: ArchiveRule): Html.Html => {
  const label = html`${chatsOf(rule)}, ${targetOf(rule, departments)}`
  return html`<li>
  <div class="head">
    <div>
      <h3>${chatsOf(rule)}</h3>
    </div>
  </div>
  <div class="actions">
  ${
    Forms.open(
      view,
      { path: `${path}/change`, about: ["rule_id", rule.id] },
      html`${
        Fields.select(
          Html.noFaults,
          { id: `effect-${rule.id}`, name: "effect", label: "Decision" },
          effects,
          rule.effect
        )
      }
      ${
        Fields.choice({
          type: "checkbox",
          id: `media-${rule.id}`,
          name: "media",
          value: "all",
          label: "With files",
          checked: rule.media === "all"
        })
      }
      ${
        Fields.choice({
          type: "checkbox",
          id: `live-${rule.id}`,
          name: "live",
          value: "yes",
          label: "As messages arrive",
          checked: rule.live
        })
      }
      <button>Save<span class="unseen">: ${label}</span></button>`
    )
  }
  ${
    Forms.confirmed(view, {
      path: `${path}/delete`,
      about: ["rule_id", rule.id],
      grave: false,
      verb: "Delete",
      label,
      consequence: "A more general rule decides from then on. Nothing that is archived is deleted."
    })
  }
  </div>
</li>`
}

/** The rules of one target, under its name, with what decides on the chats that they do not name. */
const group = (
  view: AdminPage,
  departments: ReadonlyArray<Department>,
  rules: ReadonlyArray<ArchiveRule>,
  place: number
): Html.Html | undefined => {
  const [first] = rules
  if (first === undefined) return undefined
  const { target } = first
  const id = `rules-${place}`
  const account = html`<a href="${view.visit.base}/console/accounts/${target.id ?? ""}">this account</a>`
  const inherited = {
    organization: undefined,
    department: html`<p class="hint">Its other chats follow the rules of the organization.</p>`,
    account:
      html`<p class="hint">The other chats of ${account} follow the rules of its department, and of the organization.</p>`
  }
  return html`<h2 id="${id}">${targetOf(first, departments)}</h2>
  ${inherited[target.level]}
  <ul class="plain" aria-labelledby="${id}">${rules.map(row(view, departments))}</ul>`
}

const lead = html`
<p class="lead">The most specific rule decides: of a chat, of an account, of its department, of the organization; and one for a kind of chats before one for all. A chat without a rule is not archived and waits for a decision.</p>`

/** The page for roles that set no rules of the organization. */
const explain = (view: AdminPage, use: Html.Html | undefined) =>
  Frame.page(view, {
    title: "Archive rules",
    body: html`
<h1>Archive rules</h1>
${Tabs.nav(view.visit.base, path)}
${lead}
<p class="hint">The owner and superadmins set them.</p>
${notArchived}
${use}`
  })

const ruleOf = (form: Form.Sent["form"]) => {
  const target = form.text("target")
  return {
    target: target === whole
      ? { level: "organization" as const, id: null }
      : { level: "department" as const, id: target },
    selector: { chat_type: chosen(chatTypes, form.text("chat_type")), chat_id: null },
    effect: chosen(effects, form.text("effect"))
  }
}

const counted = ({ archive, begins, chats, ends }: RulePreviewCounts): Html.Html =>
  html`<p class="note" role="status">With this rule ${String(archive)} of ${String(chats)} known chats are archived: ${
    String(begins)
  } more than now, and ${String(ends)} no longer. Nothing is changed yet.</p>`

const show = Effect.fnUntraced(function*(view: AdminPage, _: string, outcome: Form.Outcome) {
  const use = yield* ArchiveUse.sections(view)
  if (!superadmins.includes(view.admin.role)) return yield* explain(view, use)
  const { base, query: text } = view.visit
  const after = new URLSearchParams(text).get("after") ?? undefined
  const { data, has_more } = yield* listArchiveRules.call({
    limit: 50,
    ...(after === undefined || !isUuid(after) ? {} : { starting_after: RuleId.make(after) })
  })
  const departments = yield* Lists.departments
  const preview = outcome.searched === true && outcome.sent !== undefined
    ? counted(yield* previewArchiveRule.call(ruleOf(outcome.sent)))
    : undefined
  const sent = (name: string, or: string) => outcome.form === "" ? outcome.sent?.text(name) ?? or : or
  return yield* Frame.page(view, {
    title: "Archive rules",
    outcome,
    body: html`
<h1>Archive rules</h1>
${Tabs.nav(base, path)}
${Form.notice(outcome)}
${lead}
${
      data.length === 0
        ? html`<p class="empty">There are no rules yet: nothing is archived.</p>`
        : [...Map.groupBy(data, ({ target }) => target.id ?? whole).values()]
          .map((rules, place) => group(view, departments, rules, place))
    }
${Lists.pagingAfter(`${base}${path}`, "Pages of rules", after, { data, has_more })}
<section aria-labelledby="new">
  <h2 id="new">New rule</h2>
  ${
      Forms.open(
        view,
        { path },
        html`${
          Fields.select(
            outcome.faults,
            { name: "target", label: "Accounts" },
            [[whole, "The whole organization"], ...departments.map(({ id, name }) => [id, name] as const)],
            sent("target", whole)
          )
        }
        ${Fields.select(outcome.faults, { name: "chat_type", label: "Chats" }, chatTypes, sent("chat_type", "any"))}
        ${Fields.select(outcome.faults, { name: "effect", label: "Decision" }, effects, sent("effect", "archive"))}
        ${
          Fields.choice({
            type: "checkbox",
            id: "media",
            name: "media",
            value: "all",
            label: "With files",
            checked: true
          })
        }
        ${
          Fields.choice({
            type: "checkbox",
            id: "live",
            name: "live",
            value: "yes",
            label: "As messages arrive",
            hint: "Otherwise new messages are read at night.",
            checked: true
          })
        }
        ${preview}
        <div class="actions">
          <button class="main" name="decision" value="make">Make the rule</button>
          <button name="decision" value="count">Count first</button>
        </div>`
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
    target: ["target", "This department is not there any more."]
  }
})

const ruleId = (text: string) =>
  isUuid(text) ? Effect.succeed(RuleId.make(text)) : Effect.fail(new ResourceMissing({ param: "rule_id" }))

export const routes = page.routes([
  page.form({
    name: "",
    pressed: "make",
    submit: ({ form }) =>
      createArchiveRule.call({
        ...ruleOf(form),
        media: form.text("media") === "all" ? "all" : "none",
        live: form.text("live") === "yes"
      }),
    key: () => "made",
    done: { made: "The rule is made. Chats that it selects are archived within minutes." }
  }),
  page.form({
    name: "change",
    about: "rule_id",
    submit: ({ form }) =>
      Effect.flatMap(ruleId(form.text("rule_id")), (rule_id) =>
        updateArchiveRule.call({
          rule_id,
          effect: chosen(effects, form.text("effect")),
          media: form.text("media") === "all" ? "all" : "none",
          live: form.text("live") === "yes"
        })),
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
