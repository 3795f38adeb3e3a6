/** The page in which the archive is read: its script opens everything in the browser. */
import { Effect } from "effect"
import { isUuid } from "../../../domain/JsonShapes.ts"
import { archiveReaders, Caller } from "../../../domain/people/Access.ts"
import { ArchiveKeys } from "../../../ports/archive/ArchiveKeys.ts"
import { Db } from "../../../ports/Db.ts"
import * as Frame from "../kit/Frame.ts"
import { html } from "../kit/Html.ts"
import * as Lists from "../kit/Lists.ts"
import type { AdminPage, PageRequest } from "../kit/PageRequest.ts"
import * as Problem from "../kit/Problem.ts"
import * as Serving from "../kit/Serving.ts"
import * as Data from "./ViewerData.ts"
import * as Scripts from "./ViewerScripts.ts"

const path = "/console/archive"

/** The page with an account's chats chosen. */
export const addressFor = (accountId: string): string => Lists.address(path, { account: accountId })

/** The account that the address names; what is no id chooses none. */
const chosenBy = (query: string): string => {
  const account = new URLSearchParams(query).get("account") ?? ""
  return isUuid(account) ? account : ""
}

const withoutKey = (view: AdminPage) =>
  Frame.page(view, {
    title: "Archive",
    body: html`
<h1>Archive</h1>
<p class="empty">Nothing is archived yet: the organization has no archive password. ${
      view.admin.role === "owner"
        ? html`<a href="${view.visit.base}/console/archive-key">Set it</a>`
        : "Its owner sets it"
    }, and chats are archived from then on.</p>`
  })

const viewer = Effect.fnUntraced(function*(view: AdminPage) {
  const { visit } = view
  const root = Scripts.rootOf(visit.site.baseUrl)
  const { further, worker, ...script } = yield* Scripts.viewer(visit.site.baseUrl)
  return yield* Frame.page(view, {
    title: "Archive",
    whole: true,
    ...script,
    further: [...further, "img-src blob:", "media-src blob:"],
    body: html`
<div id="viewer" data-address="${root}${Data.path}" data-worker="${worker.script}" data-worker-integrity="${worker.integrity}" data-token="${
      view.csrf(Data.path)
    }" data-organization="${view.admin.organizationId}" data-role="${view.admin.role}" data-account="${
      chosenBy(visit.query)
    }">
  <p class="starting">The viewer is starting. If this text stays, load the page again, or update the browser.</p>
  <noscript>
    <h1>Archive</h1>
    <p class="problem">The archive is opened in the browser, by a script of this site: allow it, and load the page again.</p>
  </noscript>
</div>`
  })
})

const get = (visit: PageRequest) =>
  Serving.asAdmin(visit, path, (view) =>
    Effect.gen(function*() {
      const { organizationId, readsArchive, role } = yield* Caller
      if (!readsArchive || !archiveReaders.includes(role)) {
        return yield* Problem.notForRole(visit, "It is for admins who may read the archive.")
      }
      const keys = yield* ArchiveKeys
      const key = yield* (yield* Db).read(organizationId, keys.current(organizationId))
      return yield* key === null ? withoutKey(view) : viewer(view)
    }))

export const routes = [Serving.route("GET", path, get), ...Scripts.routes, ...Data.routes] as const
