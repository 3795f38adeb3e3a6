/** The holds on the archive: days and accounts of which nothing is deleted. */
import { Effect } from "effect"
import { AccountId } from "../../../domain/accounts/Account.ts"
import type { ArchiveHold } from "../../../domain/archive/ArchiveHold.ts"
import { HoldId } from "../../../domain/archive/ArchiveHold.ts"
import { ResourceMissing } from "../../../domain/Failure.ts"
import { isUuid } from "../../../domain/JsonShapes.ts"
import { superadmins } from "../../../domain/people/Access.ts"
import { getAccount } from "../../../operations/accounts/get_account.ts"
import { listArchiveHolds } from "../../../operations/archive/list_archive_holds.ts"
import { placeArchiveHold } from "../../../operations/archive/place_archive_hold.ts"
import { releaseArchiveHold } from "../../../operations/archive/release_archive_hold.ts"
import * as Fields from "../kit/Fields.ts"
import * as Form from "../kit/Form.ts"
import * as Forms from "../kit/Forms.ts"
import * as Frame from "../kit/Frame.ts"
import * as Html from "../kit/Html.ts"
import { html } from "../kit/Html.ts"
import * as Lists from "../kit/Lists.ts"
import type { AdminPage } from "../kit/PageRequest.ts"
import * as Times from "../kit/Times.ts"
import * as Tabs from "../organization/OrganizationTabs.ts"

const path = Tabs.archiveHoldsPath

const accountsOf = ({ account_ids }: ArchiveHold, base: string): Html.Value => {
  if (account_ids === null) return "All accounts"
  const [one] = account_ids
  return account_ids.length === 1 && one !== undefined
    ? html`One <a href="${base}/console/accounts/${one}">account</a>`
    : `${account_ids.length} accounts`
}

const daysOf = ({ since, until }: ArchiveHold): string =>
  since === null
    ? until === null ? "all days" : `until ${until}`
    : until === null
    ? `from ${since} on`
    : `${since} to ${until}`

const row = (view: AdminPage) => (hold: ArchiveHold): Html.Html =>
  html`<li>
  <div class="head">
    <div>
      <h2>${Html.named(hold.name)}</h2>
      <p class="hint">${accountsOf(hold, view.visit.base)}, ${daysOf(hold)}; placed ${
    Times.since(hold.placed_at, view.now, "")
  }${hold.released_at === null ? undefined : html`, released ${Times.since(hold.released_at, view.now, "")}`}</p>
    </div>
  </div>
  ${
    hold.released_at !== null || view.admin.role !== "owner" ? undefined : Forms.confirmed(view, {
      path: `${path}/release`,
      about: ["hold_id", hold.id],
      grave: true,
      verb: "Release",
      label: Html.named(hold.name),
      consequence: "What it keeps can be deleted from then on."
    })
  }
</li>`

const form = (
  view: AdminPage,
  account: { readonly id: string; readonly name: string } | null,
  outcome: Form.Outcome
): Html.Html => {
  const { faults, sent } = outcome
  const day = (name: string, label: string, hint: string) =>
    Fields.input(faults, { name, label, hint }, { type: "date", value: sent?.text(name) ?? "" })
  return html`<section aria-labelledby="new">
  <h2 id="new">New hold</h2>
  <p>${
    account === null
      ? "On all accounts, those to come among them. A hold on one account begins on its page."
      : html`On the account ${Html.named(account.name)}.`
  }</p>
  ${
    Forms.open(
      view,
      { path, about: ["account_id", account?.id ?? ""] },
      html`${
        Fields.input(
          faults,
          { name: "name", label: "Name", hint: "Such as that of the case." },
          { required: true, maxlength: 200, value: sent?.text("name") ?? "" }
        )
      }
    ${day("since", "First day", "In UTC. Empty for the beginning.")}
    ${day("until", "Last day", "In UTC. Empty for no end.")}
    <button class="main">Place the hold</button>`
    )
  }
</section>`
}

/** The address of a form for an account, which its page links to. */
export const addressFor = (accountId: string): string => Lists.address(path, { account: accountId })

const lead =
  html`<p class="lead">A hold keeps archived messages from being deleted, for instance those of a case. The owner releases it.</p>`

/** The page for other roles. */
const explain = (view: AdminPage) =>
  Frame.page(view, {
    title: "Archive holds",
    body: html`
<h1>Archive holds</h1>
${Tabs.nav(view.visit.base, path)}
${lead}
<p class="hint">The owner and superadmins place holds.</p>`
  })

const show = Effect.fnUntraced(function*(view: AdminPage, _: string, outcome: Form.Outcome) {
  if (!superadmins.includes(view.admin.role)) return yield* explain(view)
  const { base, query: text } = view.visit
  const query = new URLSearchParams(text)
  const after = query.get("after") ?? undefined
  const accountId = outcome.sent?.text("account_id") ?? query.get("account") ?? ""
  const { data, has_more } = yield* listArchiveHolds.call({
    limit: 50,
    ...(after === undefined || !isUuid(after) ? {} : { starting_after: HoldId.make(after) })
  })
  const account = isUuid(accountId) ? yield* getAccount.call({ account_id: accountId }) : null
  return yield* Frame.page(view, {
    title: "Archive holds",
    outcome,
    body: html`
<h1>Archive holds</h1>
${Tabs.nav(base, path)}
${Form.notice(outcome)}
${lead}
${
      data.length === 0
        ? html`<p class="empty">There are no holds.</p>`
        : html`<ul class="plain">${data.map(row(view))}</ul>`
    }
${Lists.pagingAfter(`${base}${path}`, "Pages of holds", after, { data, has_more })}
${form(view, account, outcome)}`
  })
})

const page = Form.page({
  path,
  show,
  refusals: { not_held: "The hold is released already." }
})

const placed = (form: Form.Sent["form"]) => {
  const accountId = form.text("account_id")
  const since = form.text("since")
  const until = form.text("until")
  return placeArchiveHold.call({
    name: form.text("name"),
    ...(isUuid(accountId) ? { account_ids: [AccountId.make(accountId)] } : {}),
    ...(since === "" ? {} : { since }),
    ...(until === "" ? {} : { until })
  })
}

const holdId = (text: string) =>
  isUuid(text) ? Effect.succeed(HoldId.make(text)) : Effect.fail(new ResourceMissing({ param: "hold_id" }))

export const routes = page.routes([
  page.form({
    name: "",
    about: "account_id",
    submit: ({ form }) => placed(form),
    key: () => "placed",
    done: { placed: "The hold is placed: nothing that it keeps is deleted." }
  }),
  page.form({
    name: "release",
    about: "hold_id",
    factor: "link",
    submit: ({ form }) =>
      Effect.flatMap(holdId(form.text("hold_id")), (hold_id) => releaseArchiveHold.call({ hold_id })),
    key: () => "released",
    done: { released: "The hold is released." }
  })
])
