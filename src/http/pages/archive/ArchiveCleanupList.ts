/** The cleanups of the archive, and the preview of one. */
import { Effect } from "effect"
import { AccountId } from "../../../domain/accounts/Account.ts"
import type { ArchiveCleanup } from "../../../domain/archive/ArchiveCleanup.ts"
import { CleanupId } from "../../../domain/archive/ArchiveCleanup.ts"
import { type ArchiveRetention, type ChosenTierDays, keptWords } from "../../../domain/archive/Retention.ts"
import { ResourceMissing } from "../../../domain/Failure.ts"
import { isUuid } from "../../../domain/JsonShapes.ts"
import { Tier } from "../../../domain/organization/Organization.ts"
import { superadmins } from "../../../domain/people/Access.ts"
import { getAccount } from "../../../operations/accounts/get_account.ts"
import { getArchiveRetention } from "../../../operations/archive/get_archive_retention.ts"
import { listArchiveCleanups } from "../../../operations/archive/list_archive_cleanups.ts"
import { previewArchiveCleanup } from "../../../operations/archive/preview_archive_cleanup.ts"
import { setArchiveRetention } from "../../../operations/archive/set_archive_retention.ts"
import * as Fields from "../kit/Fields.ts"
import * as Form from "../kit/Form.ts"
import * as Forms from "../kit/Forms.ts"
import * as Frame from "../kit/Frame.ts"
import * as Html from "../kit/Html.ts"
import { html } from "../kit/Html.ts"
import * as Lists from "../kit/Lists.ts"
import type { AdminPage } from "../kit/PageRequest.ts"
import type * as SentForm from "../kit/SentForm.ts"
import * as Times from "../kit/Times.ts"
import * as Tabs from "../organization/OrganizationTabs.ts"
import * as Cleanups from "./CleanupWords.ts"

const path = Tabs.archiveCleanupsPath

const row = ({ now, visit }: AdminPage) => (cleanup: ArchiveCleanup): Html.Html =>
  html`<li>
  <div class="head">
    <div>
      <h2><a href="${visit.base}${path}/${cleanup.id}">${Cleanups.amount(cleanup)}</a></h2>
      <p class="hint">${Cleanups.begins(cleanup, now) ?? html`Counted ${Times.since(cleanup.created_at, now, "")}`}</p>
    </div>
    ${Cleanups.mark(cleanup, now)}
  </div>
</li>`

const form = (view: AdminPage, account: { readonly id: string; readonly name: string }, outcome: Form.Outcome) =>
  html`<section aria-labelledby="new">
  <h2 id="new">Delete from the archive of ${Html.named(account.name)}</h2>
  <p>First it is counted. Nothing is deleted before the next page is confirmed.</p>
  ${
    Forms.open(
      view,
      { path, about: ["account_id", account.id] },
      html`${
        Fields.input(
          outcome.faults,
          { name: "before", label: "Only what was sent before", hint: "A day in UTC. Empty for everything." },
          { type: "date", value: outcome.sent?.text("before") ?? "" }
        )
      }
    ${
        Fields.select(
          outcome.faults,
          { name: "what", label: "What is deleted" },
          [["messages", "Messages with their files"], ["media", "Files alone"]],
          outcome.sent?.text("what") ?? "messages"
        )
      }
    ${
        Fields.choice({
          type: "checkbox",
          id: "stop_saving",
          name: "stop_saving",
          value: "yes",
          label: "Archive nothing more of these chats",
          hint: "A rule for one chat lets it go on.",
          checked: false
        })
      }
    <button class="main">Count it</button>`
    )
  }
</section>`

/** The field of a tier's days, and the text in it that keeps everything of its accounts. */
const tierField = (tier: Tier): string => `${tier}_days`
const keepAll = "all"

const tierInput = ({ days, tier_days }: ArchiveRetention, outcome: Form.Outcome) => (tier: Tier) => {
  const own = tier_days[tier]
  const shown = own === days ? "" : own === null ? keepAll : String(own)
  return Fields.input(
    outcome.faults,
    { name: tierField(tier), label: `Days for accounts with ${tier}` },
    { maxlength: 5, value: outcome.sent?.text(tierField(tier)) ?? shown, ...Fields.verbatim }
  )
}

const retentionForm = (view: AdminPage, retention: ArchiveRetention, outcome: Form.Outcome) => {
  const { begins_at, days, tier_days } = retention
  return html`<section aria-labelledby="retention">
  <h2 id="retention">Retention</h2>
  <p>${
    begins_at === null
      ? "Everything is kept."
      : html`What is older than its days is deleted ${
        begins_at.getTime() > view.now ? `from ${begins_at.toISOString().slice(0, 10)} on` : "once a week"
      }. Kept: ${keptWords({ days, tierDays: tier_days })}.`
  } The owner is mailed 7 days before, and until then each cleanup can be cancelled. A change begins after 7 days, and cancels the cleanups that wait. Holds come first.</p>
  ${
    Forms.open(
      view,
      { path: `${path}/retention` },
      html`${
        Fields.input(
          outcome.faults,
          { name: "days", label: "Days", hint: "30 to 36500. Empty keeps everything." },
          {
            inputmode: "numeric",
            maxlength: 5,
            value: outcome.sent?.text("days") ?? (days === null ? "" : String(days)),
            ...Fields.verbatim
          }
        )
      }
    <fieldset>
      <legend>By licence</legend>
      <p class="hint">For longer than the others. Empty: as above. “${keepAll}” keeps everything of these accounts.</p>
      ${Tier.literals.map(tierInput(retention, outcome))}
    </fieldset>
    <button>Set the retention</button>`
    )
  }
</section>`
}

/** The days as typed, by tier; what is no number is refused as the operation refuses it. */
const tierDaysIn = (form: SentForm.Form): ChosenTierDays =>
  Object.fromEntries(Tier.literals.flatMap((tier) => {
    const text = form.text(tierField(tier)).trim().toLowerCase()
    return text === "" ? [] : [[tier, text === keepAll ? null : Number(text)]]
  }))

/** The address of a form for an account, which its page links to. */
export const addressFor = (accountId: string): string => Lists.address(path, { account: accountId })

const lead =
  html`<p class="lead">A cleanup deletes archived messages of an account, or their files alone. It begins on the account's page.</p>`

/** The page for other roles. */
const explain = (view: AdminPage) =>
  Frame.page(view, {
    title: "Archive cleanups",
    body: html`
<h1>Archive cleanups</h1>
${Tabs.nav(view.visit.base, path)}
${lead}
<p class="hint">The owner and superadmins delete from the archive.</p>`
  })

const show = Effect.fnUntraced(function*(view: AdminPage, _: string, outcome: Form.Outcome) {
  if (!superadmins.includes(view.admin.role)) return yield* explain(view)
  const { base, query: text } = view.visit
  const query = new URLSearchParams(text)
  const after = query.get("after") ?? undefined
  const accountId = outcome.sent?.text("account_id") ?? query.get("account") ?? ""
  const { data, has_more } = yield* listArchiveCleanups.call({
    limit: 50,
    ...(after === undefined || !isUuid(after) ? {} : { starting_after: CleanupId.make(after) })
  })
  const retention = yield* getArchiveRetention.call({})
  const account = isUuid(accountId) ? yield* getAccount.call({ account_id: accountId }) : null
  return yield* Frame.page(view, {
    title: "Archive cleanups",
    outcome,
    body: html`
<h1>Archive cleanups</h1>
${Tabs.nav(base, path)}
${Form.notice(outcome)}
${lead}
${account === null ? undefined : form(view, account, outcome)}
${
      data.length === 0
        ? html`<p class="empty">There are no cleanups.</p>`
        : html`<ul class="plain">${data.map(row(view))}</ul>`
    }
${Lists.pagingAfter(`${base}${path}`, "Pages of cleanups", after, { data, has_more })}
${retentionForm(view, retention, outcome)}`
  })
})

const page = Form.page({
  path,
  show,
  refusals: {
    archive_held: "A hold keeps these records: nothing of them is deleted.",
    archive_empty: "Nothing of this is archived.",
    criteria: ["before", "Give a day such as 2026-01-31."]
  }
})

const accountOf = (text: string) =>
  isUuid(text) ? Effect.succeed(AccountId.make(text)) : Effect.fail(new ResourceMissing({ param: "account_id" }))

export const routes = page.routes([
  page.form({
    name: "",
    about: "account_id",
    submit: ({ form }) =>
      Effect.flatMap(accountOf(form.text("account_id")), (id) => {
        const before = form.text("before")
        return previewArchiveCleanup.call({
          criteria: {
            account_ids: [id],
            what: form.text("what") === "media" ? "media" : "messages",
            ...(before === "" ? {} : { before: `${before}T00:00:00Z` })
          },
          stop_saving: form.text("stop_saving") === "yes"
        })
      }),
    next: ({ id }) => `${path}/${id}`
  }),
  page.form({
    name: "retention",
    factor: "link",
    submit: ({ form }) => {
      const days = form.text("days").trim()
      return setArchiveRetention.call({ days: days === "" ? null : Number(days), tier_days: tierDaysIn(form) })
    },
    key: () => "retention",
    done: { retention: "The retention is set." },
    refusals: {
      days: ["days", "Give 30 to 36500 days, or nothing."],
      tier_days: `By licence: give 30 to 36500 days, “${keepAll}”, or nothing.`
    }
  })
])
