/** A rule of the archive on its page: what it says, and the forms that change and delete it. */
import { Effect, Schema } from "effect"
import { type ArchiveRule, MaxFileBytes, type RulePreviewCounts } from "../../../domain/archive/ArchiveRule.ts"
import { type Role, superadmins } from "../../../domain/people/Access.ts"
import * as Fields from "../kit/Fields.ts"
import type * as Form from "../kit/Form.ts"
import * as Forms from "../kit/Forms.ts"
import * as Html from "../kit/Html.ts"
import { html } from "../kit/Html.ts"
import type { AdminPage } from "../kit/PageRequest.ts"
import { FieldRefused } from "../kit/RefusedForms.ts"
import * as Tabs from "../organization/OrganizationTabs.ts"
import { size } from "./ExportWords.ts"

export const path = Tabs.archiveRulesPath

export const chatTypes = [
  ["any", "All chats"],
  ["private", "Chats with people"],
  ["group", "Groups"],
  ["channel", "Channels"],
  ["bot", "Bots"],
  ["saved", "Own notes"]
] as const

const effects = [["archive", "Archive"], ["skip", "Skip"], ["review", "Decide later"]] as const

export const chosen = <const A extends ReadonlyArray<readonly [string, string]>>(all: A, text: string): A[number][0] =>
  all.find(([value]) => value === text)?.[0] ?? all[0]?.[0] ?? ""

export const effectOf = (form: Form.Sent["form"]) => chosen(effects, form.text("effect"))

const bytesOfMb = 1_000_000

const isSize = Schema.is(MaxFileBytes)

/** The decision of a rule that a form has; fails where its size is none. */
export const decisionOf = Effect.fnUntraced(function*(form: Form.Sent["form"]) {
  const text = form.text("max_mb").trim()
  const bytes = text === "" ? null : Math.round(Number(text.replace(",", ".")) * bytesOfMb)
  if (!isSize(bytes)) {
    return yield* new FieldRefused({
      field: `max_mb${form.text("rule_id")}`,
      message: "Give a size in MB, at most 4294, or leave it empty.",
      status: 400,
      code: "parameter_invalid"
    })
  }
  return {
    effect: effectOf(form),
    media: form.text("media") === "all" ? "all" as const : "none" as const,
    max_file_bytes: bytes,
    live: form.text("live") === "yes"
  }
})

type Decision = Pick<ArchiveRule, "effect" | "live" | "max_file_bytes" | "media">

/** The fields of what a rule decides: those of a rule that there is have its id in theirs. */
export const decisionFields = (
  { effect, live, max_file_bytes, media }: Decision,
  { faults, sent }: Pick<Form.Outcome, "faults" | "sent">,
  id = ""
): Html.Html => {
  const ticked = (name: string, or: boolean) => sent === undefined ? or : sent.text(name) !== ""
  const mb = max_file_bytes === null ? "" : String(max_file_bytes / bytesOfMb)
  return html`${
    Fields.select(
      faults,
      { id: `effect${id}`, name: "effect", label: "Decision" },
      effects,
      sent?.text("effect") ?? effect
    )
  }
  ${
    Fields.choice({
      type: "checkbox",
      id: `media${id}`,
      name: "media",
      value: "all",
      label: "With files",
      checked: ticked("media", media === "all")
    })
  }
  ${
    Fields.input(
      faults,
      { id: `max_mb${id}`, name: "max_mb", label: "Largest file, in MB", hint: "Empty for no limit." },
      { inputmode: "decimal", autocomplete: "off", value: sent?.text("max_mb") ?? mb }
    )
  }
  ${
    Fields.choice({
      type: "checkbox",
      id: `live${id}`,
      name: "live",
      value: "yes",
      label: "As messages arrive",
      hint: "Otherwise new messages are read at night.",
      checked: ticked("live", live)
    })
  }`
}

export const counted = ({ archive, begins, chats, ends }: RulePreviewCounts): Html.Html =>
  html`<p class="note" role="status">With this rule ${String(archive)} of ${String(chats)} known chats are archived: ${
    String(begins)
  } more than now, and ${String(ends)} no longer. Nothing is changed yet.</p>`

/** True if the role may change rules like this one, where it sees them. */
const mayChange = (role: Role, { target }: ArchiveRule): boolean =>
  target.level === "account" || superadmins.includes(role)

const chatsOf = ({ selector }: ArchiveRule): string =>
  selector.chat_type === null
    ? `Chat ${selector.chat_id ?? ""}`
    : chatTypes.find(([type]) => type === selector.chat_type)?.[1] ?? selector.chat_type

const said = ({ effect, live, max_file_bytes, media }: ArchiveRule): string =>
  [
    effects.find(([value]) => value === effect)?.[1] ?? effect,
    media === "none"
      ? "without files"
      : max_file_bytes === null
      ? "with files"
      : `with files up to ${size(max_file_bytes)}`,
    live ? "as messages arrive" : "at night"
  ].join(", ")

/** The outcome of the form that was sent about the rule; none where another was. */
const outcomeOf = ({ id }: ArchiveRule, outcome: Form.Outcome): Form.Outcome | undefined =>
  outcome.form === "change" && outcome.sent?.text("rule_id") === id ? outcome : undefined

/** The page of rules that is shown: the rule that it comes after, and the counts that its form has asked for. */
interface Shown {
  readonly after: string | undefined
  readonly preview: RulePreviewCounts | undefined
}

const change = (
  view: AdminPage,
  rule: ArchiveRule,
  label: Html.Html,
  outcome: Form.Outcome,
  { after, preview }: Shown
): Html.Html => {
  const own = outcomeOf(rule, outcome)
  return html`<div class="actions">
  ${
    Forms.open(
      view,
      { path: `${path}/change`, about: ["rule_id", rule.id], members: after === undefined ? {} : { after } },
      html`${decisionFields(rule, own ?? { faults: Html.noFaults }, rule.id)}
      ${own === undefined || preview === undefined ? undefined : counted(preview)}
      <button name="decision" value="save">Save<span class="unseen">: ${label}</span></button>
      <button name="decision" value="count">Count first<span class="unseen">: ${label}</span></button>`
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
  </div>`
}

/** A rule of the target that is called so; with its forms, where the admin may change it. */
export const row = (
  view: AdminPage,
  target: Html.Value,
  outcome: Form.Outcome,
  shown: Shown
) =>
(rule: ArchiveRule): Html.Html =>
  html`<li>
  <div class="head">
    <div>
      <h3>${chatsOf(rule)}</h3>
      <p class="hint">${said(rule)}</p>
    </div>
  </div>
  ${
    mayChange(view.admin.role, rule)
      ? change(view, rule, html`${chatsOf(rule)}, ${target}`, outcome, shown)
      : undefined
  }
</li>`
