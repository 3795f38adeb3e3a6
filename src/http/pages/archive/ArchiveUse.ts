/** The accounts whose archives take most, and those with chats that wait for a decision. */
import { Effect } from "effect"
import { type AccountFacts, accountName } from "../../../domain/accounts/Account.ts"
import { isNearlyFull } from "../../../domain/archive/StorageLimit.ts"
import type { OrganizationFacts } from "../../../domain/organization/Organization.ts"
import { archiveReaders, Caller } from "../../../domain/people/Access.ts"
import { Accounts } from "../../../ports/accounts/Accounts.ts"
import { Db } from "../../../ports/Db.ts"
import { Organizations } from "../../../ports/organization/Organizations.ts"
import * as Statuses from "../accounts/Statuses.ts"
import * as Bars from "../kit/Bars.ts"
import * as Html from "../kit/Html.ts"
import { html } from "../kit/Html.ts"
import type { AdminPage } from "../kit/PageRequest.ts"
import * as Viewer from "./ArchiveViewer.ts"
import { size } from "./ExportWords.ts"

const accountsShown = 10

const percent = (part: number, whole: number): string => `${Math.floor(part / whole * 100)} %`

const used = ({ storage_limit_bytes: limit, storage_used_bytes: used }: OrganizationFacts): Html.Html =>
  limit === null || limit === 0
    ? html`<p>${size(used)} used, without a limit.</p>`
    : html`<p>${size(used)} of ${size(limit)} used, ${percent(used, limit)}. ${
      used >= limit
        ? Statuses.mark("danger", "Full: nothing more is saved")
        : isNearlyFull(used, limit)
        ? Statuses.mark("caution", "Nearly full")
        : undefined
    }</p>
  ${Bars.bar("Storage used", used, limit)}`

const list = (
  accounts: ReadonlyArray<AccountFacts>,
  to: (id: string) => string,
  said: (account: AccountFacts) => string
): Html.Html =>
  html`<ol class="plain">${
    accounts.map((account) =>
      html`<li><a href="${to(account.id)}">${Html.named(accountName(account))}</a> <span class="hint">${
        said(account)
      }</span></li>`
    )
  }</ol>`

const most = (accounts: ReadonlyArray<AccountFacts>): Html.Html | undefined =>
  accounts.length < accountsShown
    ? undefined
    : html`<p class="hint">The ${accountsShown} accounts with most are shown.</p>`

const storage = (base: string, organization: OrganizationFacts, largest: ReadonlyArray<AccountFacts>): Html.Html =>
  html`<section aria-labelledby="storage">
  <h2 id="storage">Storage</h2>
  ${used(organization)}
  ${
    largest.length === 0
      ? html`<p class="empty">No account that you can access has anything archived.</p>`
      : list(
        largest,
        (id) => `${base}/console/accounts/${id}#archive`,
        ({ archive_bytes, archive_media, archive_messages }) =>
          `${size(archive_bytes)}: ${archive_messages.toLocaleString("en")} ${
            archive_messages === 1 ? "message" : "messages"
          }, ${archive_media.toLocaleString("en")} ${archive_media === 1 ? "file" : "files"}`
      )
  }
  ${most(largest)}
</section>`

const review = (base: string, waiting: ReadonlyArray<AccountFacts>): Html.Html =>
  html`<section aria-labelledby="review">
  <h2 id="review">Chats to review</h2>
  ${
    waiting.length === 0
      ? html`<p class="empty">No chat waits for a decision.</p>`
      : html`<p class="hint">Their names are sealed: open the account’s archive with the archive password, and decide there.</p>
  ${
        list(
          waiting,
          (id) => `${base}${Viewer.addressFor(id)}`,
          ({ archive_chats_review: chats }) => `${chats.toLocaleString("en")} ${chats === 1 ? "chat" : "chats"}`
        )
      }`
  }
  ${most(waiting)}
</section>`

/** Both sections; none for roles that do not read archives. */
export const sections = Effect.fnUntraced(function*({ admin, visit: { base } }: AdminPage) {
  if (!archiveReaders.includes(admin.role)) return undefined
  const caller = yield* Caller
  const accounts = yield* Accounts
  const organizations = yield* Organizations
  const { largest, organization, waiting } = yield* (yield* Db).read(
    caller.organizationId,
    Effect.all({
      organization: organizations.facts(caller),
      largest: accounts.ranked(caller, "archive_bytes", accountsShown),
      waiting: accounts.ranked(caller, "archive_chats_review", accountsShown)
    }, { concurrency: "unbounded" })
  )
  return html`${admin.readsArchive ? review(base, waiting) : undefined}${storage(base, organization, largest)}`
})
