/** The exports of the archive: those that can be downloaded, and the form of a new one. */
import { Effect } from "effect"
import { AccountId } from "../../../domain/accounts/Account.ts"
import type { ArchiveAccount } from "../../../domain/archive/ArchiveAccount.ts"
import { type ArchiveExportSummary, ExportFormat, ExportId } from "../../../domain/archive/ArchiveExport.ts"
import { largestPart, leastPartLimit } from "../../../domain/archive/ExportParts.ts"
import { ParameterInvalid } from "../../../domain/Failure.ts"
import { isUuid } from "../../../domain/JsonShapes.ts"
import { archiveReaders } from "../../../domain/people/Access.ts"
import { createArchiveExport } from "../../../operations/archive/create_archive_export.ts"
import { listAccounts } from "../../../operations/archive/list_accounts.ts"
import { listArchiveExports } from "../../../operations/archive/list_archive_exports.ts"
import * as Statuses from "../accounts/Statuses.ts"
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
import * as Words from "./ExportWords.ts"

const path = Tabs.archiveExportsPath

/** Accounts of one export at most, as the operation takes them. */
const accountsAtOnce = 100

/** Bytes of a part at most, to choose from. */
const partSizes = [largestPart, 500_000_000, 100_000_000, leastPartLimit] as const

type Account = typeof ArchiveAccount.Type

const row = ({ now, visit }: AdminPage) => (made: typeof ArchiveExportSummary.Type): Html.Html =>
  html`<li>
  <div class="head">
    <div>
      <h2><a href="${visit.base}${path}/${made.id}">${Words.amount(made)}</a></h2>
      <p class="hint">${Words.formats[made.format]}, ${Words.days(made.criteria)}; made ${
    Times.since(made.created_at, now, "")
  }</p>
    </div>
    ${made.state === "ready" ? Statuses.mark("good", "Ready") : Statuses.mark("off", "Ended")}
  </div>
</li>`

const accountChoices = (accounts: ReadonlyArray<Account>, chosen: ReadonlySet<string>) =>
  html`<fieldset>
    <legend>Accounts</legend>
    ${
    accounts.map(({ id, messages, name }) =>
      Fields.choice({
        type: "checkbox",
        id: `account-${id}`,
        name: "account_id",
        value: id,
        label: Html.named(name),
        hint: `${messages.toLocaleString("en")} messages`,
        checked: chosen.has(id)
      })
    )
  }
  </fieldset>`

const form = (view: AdminPage, all: ReadonlyArray<Account>, more: boolean, outcome: Form.Outcome): Html.Html => {
  const { faults, sent } = outcome
  const query = new URLSearchParams(view.visit.query)
  const chosen = new Set(sent?.all("account_id") ?? query.getAll("account"))
  const accounts = all.filter(({ id, messages }) => messages > 0 || chosen.has(id))
  const without = all.length - accounts.length
  const day = (name: string, label: string, hint: string) =>
    Fields.input(faults, { name, label, hint }, { type: "date", value: sent?.text(name) ?? "" })
  return html`<section aria-labelledby="new">
  <h2 id="new">New export</h2>
  <p>It is counted at once and needs no archive password: that is for the download.</p>
  ${
    more
      ? html`<p class="hint">These are the first ${accountsAtOnce} accounts by name. An account's own page leads here too.</p>`
      : undefined
  }
  ${
    Forms.open(
      view,
      { path },
      html`${accountChoices(accounts, chosen)}
    ${
        without === 0
          ? undefined
          : html`<p class="hint">${Words.counted(without, "account")} ${
            without === 1 ? "has nothing archived, and is not listed." : "have nothing archived, and are not listed."
          }</p>`
      }
    ${
        Fields.input(
          faults,
          {
            name: "chat_ids",
            label: "Chats",
            hint: "Ids of chats of one account, with spaces between them. Empty for all chats."
          },
          { maxlength: 4000, value: sent?.text("chat_ids") ?? query.get("chat") ?? "", ...Fields.verbatim }
        )
      }
    ${day("since", "First day", "In UTC. Empty for the beginning.")}
    ${day("until", "Last day", "In UTC. Empty for today.")}
    ${
        Fields.select(
          faults,
          { name: "format", label: "Format" },
          ExportFormat.literals.map((format) => [format, Words.formats[format]] as const),
          sent?.text("format") ?? "html"
        )
      }
    ${
        Fields.choice({
          type: "checkbox",
          id: "media",
          name: "media",
          value: "yes",
          label: "With photos and other files",
          checked: sent === undefined || sent.text("media") === "yes"
        })
      }
    ${
        Fields.select(
          faults,
          {
            name: "part_bytes",
            label: "Size of a part at most",
            hint:
              "Most browsers begin a part again that broke off: choose small ones where the connection is slow or breaks."
          },
          partSizes.map((bytes) => [String(bytes), bytes === largestPart ? "2 GiB" : Words.size(bytes)] as const),
          sent?.text("part_bytes") ?? String(largestPart)
        )
      }
    <button class="main">Make the export</button>`
    )
  }
</section>`
}

/** The address of the form for an account, which its page links to. */
export const addressFor = (accountId: string): string => Lists.address(path, { account: accountId })

const lead =
  html`<p class="lead">An export holds archived chats as files: to read, for a lawyer, or for another archive. Each part has a manifest with the hash of every file.</p>`

/** The page for those who may not read the archive. */
const explain = (view: AdminPage) =>
  Frame.page(view, {
    title: "Archive exports",
    body: html`
<h1>Archive exports</h1>
${Tabs.nav(view.visit.base, path)}
${lead}
<p class="hint">Only admins who may read the archive export it.</p>`
  })

const show = Effect.fnUntraced(function*(view: AdminPage, _: string, outcome: Form.Outcome) {
  const { readsArchive, role } = view.admin
  if (!readsArchive || !archiveReaders.includes(role)) return yield* explain(view)
  const { base, query } = view.visit
  const after = new URLSearchParams(query).get("after") ?? undefined
  const { exports, accounts } = yield* Effect.all({
    exports: listArchiveExports.call({
      limit: 50,
      ...(after === undefined || !isUuid(after) ? {} : { starting_after: ExportId.make(after) })
    }),
    accounts: listAccounts.call({ limit: accountsAtOnce })
  })
  return yield* Frame.page(view, {
    title: "Archive exports",
    outcome,
    body: html`
<h1>Archive exports</h1>
${Tabs.nav(base, path)}
${Form.notice(outcome)}
${lead}
${
      exports.data.length === 0
        ? html`<p class="empty">There are no exports.</p>`
        : html`<ul class="plain">${exports.data.map(row(view))}</ul>`
    }
${Lists.pagingAfter(`${base}${path}`, "Pages of exports", after, exports)}
${
      accounts.data.every(({ messages }) => messages === 0) && !accounts.has_more
        ? html`<p class="empty">Nothing is archived yet.</p>`
        : form(view, accounts.data, accounts.has_more, outcome)
    }`
  })
})

const page = Form.page({
  path,
  show,
  refusals: {
    archive_empty: "Nothing of this is archived.",
    archive_closed: "The organization's archive is closed.",
    too_many_exports: "There are as many exports as can be downloaded at a time. Each ends after 7 days."
  }
})

const made = (form: SentForm.Form) => {
  const accountIds = form.all("account_id").filter(isUuid).map((id) => AccountId.make(id))
  if (accountIds.length === 0) {
    return Effect.fail(new ParameterInvalid({ param: "account_id", message: "Choose an account." }))
  }
  const chats = form.text("chat_ids").split(/[\s,]+/u).filter((id) => id !== "")
  const [since, until] = [form.text("since"), form.text("until")]
  const format = ExportFormat.literals.find((each) => each === form.text("format")) ?? "html"
  return createArchiveExport.call({
    criteria: {
      account_ids: accountIds,
      ...(chats.length === 0 ? {} : { chat_ids: chats }),
      ...(since === "" ? {} : { since }),
      ...(until === "" ? {} : { until })
    },
    format,
    media: form.text("media") === "yes",
    part_bytes: partSizes.find((bytes) => String(bytes) === form.text("part_bytes")) ?? largestPart
  })
}

export const routes = page.routes([
  page.form({ name: "", submit: ({ form }) => made(form), next: ({ id }) => `${path}/${id}` })
])
