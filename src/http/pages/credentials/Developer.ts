/** The Developer page: API keys and AI connections, which it reads and changes by the operations of the API. */
import { Effect } from "effect"
import type { AiConnection, ApiKey } from "../../../domain/credentials/Credential.ts"
import { listAiConnections } from "../../../operations/credentials/list_ai_connections.ts"
import { revokeAiConnection } from "../../../operations/credentials/revoke_ai_connection.ts"
import { revokeApiKey } from "../../../operations/credentials/revoke_api_key.ts"
import { Credentials } from "../../../ports/credentials/Credentials.ts"
import { Db } from "../../../ports/Db.ts"
import * as Statuses from "../accounts/Statuses.ts"
import { type AdminPage, Form, Forms, Frame, Html, html, Notices, Serving } from "../kit/index.ts"
import * as DeveloperGuide from "./DeveloperGuide.ts"
import * as NewKey from "./NewKey.ts"
import * as Scopes from "./ScopeBoxes.ts"

const path = "/console/developer"
const revokePath = `${path}/api-keys/revoke`
const disconnectPath = `${path}/connections/disconnect`

const state = (credential: ApiKey | AiConnection, now: number): "Active" | "Expired" | "Revoked" =>
  credential.revoked_at !== null
    ? "Revoked"
    : credential.expires_at !== null && credential.expires_at.getTime() <= now
    ? "Expired"
    : "Active"

const facts = (rows: ReadonlyArray<readonly [string, Html.Value]>): Html.Html =>
  html`<dl>${rows.map(([name, value]) => html`<dt>${name}</dt><dd>${value}</dd>`)}</dl>`

const used = (date: Date | null) => date === null ? "Not yet" : Html.momentOf(date)

const ends = ({ expires_at, revoked_at }: ApiKey | AiConnection) =>
  revoked_at !== null
    ? ["Ended", Html.momentOf(revoked_at)] as const
    : ["Expires", expires_at === null ? "Never" : Html.momentOf(expires_at)] as const

const owner = (credential: ApiKey | AiConnection) =>
  credential.mine ? [] : [["Belongs to", Html.named(credential.owner_email ?? "Another admin")] as const]

const badge = (text: string): Html.Html => Statuses.mark(text === "Active" ? "good" : "off", text)

const key = (view: AdminPage, endings: ReadonlyMap<string, string>) => (key: ApiKey): Html.Html => {
  const current = state(key, view.now)
  const ending = endings.get(key.id)
  const label = Html.named(key.label)
  return html`<li id="${key.id}">
  <div class="head"><h3>${label}</h3> ${badge(current)}</div>
  ${
    facts([
      ...(ending === undefined ? [] : [["Ends in", html`<code>…${ending}</code>`] as const]),
      ["May", Scopes.names(key.scopes)],
      ...owner(key),
      ["Created", Html.dayOf(key.created_at)],
      ["Last used", used(key.last_used_at)],
      ends(key)
    ])
  }
  ${
    current !== "Active" ? undefined : Forms.confirmed(view, {
      path: revokePath,
      about: ["id", key.id],
      label,
      verb: "Revoke",
      grave: true,
      consequence: "Whatever uses this key stops working at once. A revoked key cannot be brought back."
    })
  }
</li>`
}

const accessOf = ({ account_ids, all_accounts, department_ids, scope_type }: AiConnection): string => {
  if (all_accounts) return "All accounts"
  const count = (scope_type === "accounts" ? account_ids : department_ids).length
  const noun = scope_type === "accounts" ? "account" : "department"
  return count === 1 ? `1 ${noun}` : `${count} ${noun}s`
}

const connection = (view: AdminPage) => (connection: AiConnection): Html.Html => {
  const current = state(connection, view.now)
  const { client } = connection
  const label = client === null ? Html.named(connection.label) : Html.claimed(client.name)
  return html`<li id="${connection.id}">
  <div class="head"><h3>${label}</h3> ${badge(current === "Revoked" ? "Disconnected" : current)}</div>
  ${client === null ? undefined : html`<p class="host">${client.host}</p>${Html.application(client.known)}`}
  ${
    facts([
      ["May", Scopes.names(connection.scopes)],
      ["Accounts", accessOf(connection)],
      ...(connection.mode === "local" ? [["Archive", "Opened on its user's computer"] as const] : []),
      ...owner(connection),
      ["Connected", Html.dayOf(connection.created_at)],
      ["Last used", used(connection.last_used_at)],
      ends(connection)
    ])
  }
  ${
    current !== "Active" ? undefined : Forms.confirmed(view, {
      path: disconnectPath,
      about: ["id", connection.id],
      label,
      verb: "Disconnect",
      grave: true,
      consequence: "The application loses its access at once. To use it again it has to be connected anew."
    })
  }
</li>`
}

/** Collapsed rows, with their number. */
const folded = <A extends ApiKey | AiConnection>(
  rows: ReadonlyArray<A>,
  row: (one: A) => Html.Html,
  [one, several]: readonly [string, string]
): Html.Html | undefined =>
  rows.length === 0
    ? undefined
    : html`<details class="folded"><summary>${rows.length} ${
      rows.length === 1 ? one : several
    }</summary><ul class="plain">${rows.map(row)}</ul></details>`

const listed = <A extends ApiKey | AiConnection>(
  rows: ReadonlyArray<A>,
  row: (one: A) => Html.Html,
  empty: Html.Html
): Html.Html => rows.length === 0 ? empty : html`<ul class="plain">${rows.map(row)}</ul>`

const show = Effect.fnUntraced(function*(view: AdminPage, _: string, outcome: Form.Outcome) {
  const { admin, visit } = view
  const { api_keys, connections } = yield* listAiConnections.call({})
  const credentials = yield* Credentials
  const endings = yield* (yield* Db).transaction(
    admin.organizationId,
    credentials.keyEndings(Serving.caller(visit, admin))
  )
  const active = (one: ApiKey | AiConnection) => state(one, view.now) === "Active"
  const keyRow = key(view, endings)
  const connectionRow = connection(view)
  const used = connections.filter((one) => active(one) && one.last_used_at !== null)
  const unused = connections.filter((one) => active(one) && one.last_used_at === null)
  const showNotices = yield* Notices.make(view)
  return yield* Frame.page(view, {
    title: "Developer",
    wide: true,
    outcome,
    body: html`
<h1>Developer</h1>
<p class="lead">API keys for programs, and the AI applications that are connected to your organization.</p>
${Form.notice(outcome)}
${showNotices()}
<div class="columns even">
<div>
<section aria-labelledby="keys">
  <div class="head">
    <h2 id="keys">API keys</h2>
    <a class="button main" href="${visit.base}${NewKey.path}">Create an API key</a>
  </div>
  ${
      listed(
        api_keys.filter(active),
        keyRow,
        html`<p class="empty">There is no active API key. Create one, then send it as <code>Authorization: Bearer …</code>.</p>`
      )
    }
  ${folded(api_keys.filter((one) => !active(one)), keyRow, ["past key", "past keys"])}
</section>
<section aria-labelledby="connections">
  <h2 id="connections">AI connections</h2>
  <p class="lead">Names were chosen by the applications and prove nothing; the address shows where access went.</p>
  ${
      listed(
        used,
        connectionRow,
        html`<p class="empty">${
          unused.length === 0 ? "No application is connected." : "No connection has been used yet."
        } In your assistant, add the connector <code>${visit.site.baseUrl}/mcp</code>.</p>`
      )
    }
  ${folded(unused, connectionRow, ["connection that was never used", "connections that were never used"])}
  ${folded(connections.filter((one) => !active(one)), connectionRow, ["past connection", "past connections"])}
</section>
</div>
<div>
${DeveloperGuide.section(visit.site, view.admin.readsArchive)}
</div>
</div>`
  })
})

const page = Form.page({ path, show, strict: true })

export const routes = page.routes([
  page.form({
    name: "key-revoked",
    path: revokePath,
    about: "id",
    submit: ({ form }) => revokeApiKey.call({ api_key_id: form.text("id") }),
    done: "The key is revoked."
  }),
  page.form({
    name: "disconnected",
    path: disconnectPath,
    about: "id",
    submit: ({ form }) => revokeAiConnection.call({ connection_id: form.text("id") }),
    done: "The application is disconnected."
  })
])
