/** The credentials made in the admin's name since the last visit, on the first page that the admin sees. */
import { Effect } from "effect"
import { ConsoleSessions, type CredentialNotice } from "../../../ports/signin/ConsoleSessions.ts"
import * as Html from "./Html.ts"
import { html } from "./Html.ts"
import type { AdminPage } from "./PageRequest.ts"
import * as Refresh from "./Refresh.ts"

/** The transport of a request, in words. */
export const transports: Readonly<Record<CredentialNotice["via"], string>> = {
  rest: "over the API",
  mcp: "by an assistant",
  console: "at the console",
  cli: "by the operator of this console",
  embedded: "by a program",
  background: "by the service"
}

const sentence = ({ at, ip, key, kind, label, via }: CredentialNotice): Html.Html =>
  html`<li>${
    kind === "api_key" ? html`API key “${Html.named(label)}”` : html`Application ${Html.claimed(label)}`
  } was ${kind === "api_key" ? "created" : "connected"} ${transports[via]}${
    key === null ? "" : html` with the key “${Html.named(key)}”`
  }${ip === null ? "" : html` from <code>${ip}</code>`}, ${Html.momentOf(at)}.</li>`

/** The notice on a page; empty where nothing is new, or no person views the page. */
export const make = Effect.fnUntraced(function*({ admin, visit }: AdminPage) {
  if (Refresh.isUnattended(visit.query)) return () => undefined
  const { more, notices } = yield* (yield* ConsoleSessions).notices(admin, visit.cookies, visit.site)
  return (): Html.Html | undefined =>
    notices.length === 0 ? undefined : html`
<div class="note" role="status">
  <h2>New in your name since your last visit</h2>
  <ul>${notices.map(sentence)}</ul>
  ${
      more
        ? html`<p>There are more: see the lists on the <a href="${visit.base}/console/developer">Developer page</a>.</p>`
        : undefined
    }
  <p>Was this not you? Revoke it on the <a href="${visit.base}/console/developer">Developer page</a> and <a href="${visit.base}/console/security">change your password</a>.</p>
</div>`
})
