/** The logins that wait for their next step, so that one whose page was closed can be found again. */
import { Effect } from "effect"
import type { LoginFacts } from "../../../domain/logins/Login.ts"
import * as PhoneNumber from "../../../domain/logins/PhoneNumber.ts"
import { Caller, protectors } from "../../../domain/people/Access.ts"
import { Db } from "../../../ports/Db.ts"
import { Logins } from "../../../ports/logins/Logins.ts"
import { type AdminPage, type Html, html, Times } from "../kit/index.ts"
import * as AccountLogin from "./AccountLogin.ts"

const row = ({ admin, now, visit }: AdminPage) => (login: LoginFacts): Html.Html =>
  html`<li>
  <h3><a href="${visit.base}${AccountLogin.pathOf(login.id)}"><span class="number">${
    PhoneNumber.shown(login.phone_number)
  }</span></a></h3>
  <p class="hint">${
    login.state === "code_sent" ? "Waits for the code" : "Waits for the holder’s 2FA password"
  }, started by ${login.started_by === admin.adminId ? "you" : "another admin"}, runs out ${
    Times.when(login.expires_at, now)
  }.</p>
</li>`

/** Those that the admin may go on with; nothing where there are none, or for a role that connects no accounts. */
export const section = Effect.fnUntraced(function*(view: AdminPage) {
  const caller = yield* Caller
  if (!protectors.includes(caller.role)) return undefined
  const db = yield* Db
  const logins = yield* Logins
  const open = yield* db.read(caller.organizationId, logins.unfinished(caller, new Date(view.now)))
  return open.length === 0 ? undefined : html`
<section aria-labelledby="logins">
  <h2 id="logins">${open.length === 1 ? "1 login is not finished" : `${open.length} logins are not finished`}</h2>
  <ul class="plain">${open.map(row(view))}</ul>
</section>`
})
