/** The archive password of the organization: whether there is one, and the ways to set it. */
import { Effect } from "effect"
import { Caller } from "../../../domain/people/Access.ts"
import { type ArchiveKey, ArchiveKeys } from "../../../ports/archive/ArchiveKeys.ts"
import { Db } from "../../../ports/Db.ts"
import * as Statuses from "../accounts/Statuses.ts"
import * as Frame from "../kit/Frame.ts"
import * as Html from "../kit/Html.ts"
import { html } from "../kit/Html.ts"
import type { PageRequest } from "../kit/PageRequest.ts"
import * as Serving from "../kit/Serving.ts"
import * as Tabs from "../organization/OrganizationTabs.ts"
import { type KeyForm, path, pathOf } from "./ArchiveKeyForm.ts"
import { routesOf } from "./ArchiveKeyPosts.ts"

const set: KeyForm = {
  name: "set",
  title: "Set the archive password",
  lead: "Chats are archived from then on, sealed to a key that only this password opens.",
  button: "Set the password"
}

const change: KeyForm = {
  name: "change",
  title: "Change the archive password",
  lead:
    "The archive stays as it is, and opens with the new password alone. Applications that keep the old one are refused.",
  button: "Change the password",
  secret: { kind: "password", label: "Archive password", wrong: "This is not the archive password." }
}

const recover: KeyForm = {
  name: "recover",
  title: "Use the recovery code",
  lead: "The code that was printed when the password was last set opens the archive, and gives it another password.",
  button: "Set a new password",
  secret: { kind: "recovery", label: "Recovery code", wrong: "This is not the recovery code." }
}

const replace: KeyForm = {
  name: "replace",
  title: "Replace a lost key",
  lead:
    "Without the password and without the recovery code nobody can open what is archived. A new key lets new messages be archived and read. What was sealed before stays sealed: the password of before opens it still, and that alone.",
  button: "Replace the key",
  loses: true
}

const ways: ReadonlyArray<KeyForm> = [change, recover, replace]

const facts = (key: ArchiveKey | null): Html.Html =>
  key === null
    ? html`<p>${Statuses.mark("caution", "Not set")} Nothing is archived before it is.</p>`
    : html`
  <dl class="facts">
    <dt>State</dt><dd>${Statuses.mark("good", "Set")}</dd>
    <dt>Password set</dt><dd>${Html.momentOf(key.passwordSetAt)}</dd>
    <dt>Key made</dt><dd>${Html.momentOf(key.madeAt)}</dd>
    <dt>Key</dt><dd><code>${key.keyId}</code></dd>
  </dl>`

const way = (base: string) => (form: KeyForm): Html.Html =>
  html`
  <section aria-labelledby="${form.name}">
    <h2 id="${form.name}">${form.title}</h2>
    <p>${form.lead}</p>
    <p><a class="button" href="${base}${pathOf(form)}">${form.title}</a></p>
  </section>`

const get = (visit: PageRequest) =>
  Serving.asAdmin(visit, path, (view) =>
    Effect.gen(function*() {
      const { organizationId, role } = yield* Caller
      const keys = yield* ArchiveKeys
      const key = yield* (yield* Db).read(organizationId, keys.current(organizationId))
      const forms = key === null ? [set] : ways
      return yield* Frame.page(view, {
        title: "Archive password",
        body: html`
<h1>Archive password</h1>
${Tabs.nav(visit.base, path)}
<p class="lead">Archived chats are sealed to a key of the organization. Its password opens them; the service does not keep it.</p>
${facts(key)}
${role === "owner" ? forms.map(way(visit.base)) : html`<p class="hint">The owner sets and changes it.</p>`}`
      })
    }))

export const routes = [
  Serving.route("GET", path, get),
  ...[set, ...ways].flatMap((form) => [...routesOf(form)])
] as const
