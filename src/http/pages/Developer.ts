/** The Developer page: API keys and AI connections, which it reads and changes by the operations of the API. */
import { Clock, Duration, Effect, Option, Redacted } from "effect"
import { Caller, Scope } from "../../domain/Access.ts"
import type { AiConnection, ApiKey } from "../../domain/Credential.ts"
import { defaultApiKeyExpiry, maxApiKeyLabelLength } from "../../domain/Limits.ts"
import { ConsoleSessions, type SignedIn } from "../../oauth/ConsoleSessions.ts"
import { createApiKey } from "../../operations/credentials/create_api_key.ts"
import { listAiConnections } from "../../operations/credentials/list_ai_connections.ts"
import { revokeAiConnection } from "../../operations/credentials/revoke_ai_connection.ts"
import { revokeApiKey } from "../../operations/credentials/revoke_api_key.ts"
import * as Html from "./Html.ts"
import { html } from "./Html.ts"
import { outForm } from "./SignIn.ts"
import * as Visit from "./Visit.ts"

export const path = "/console/developer"
export const createPath = `${path}/api-keys`
export const revokePath = `${path}/api-keys/revoke`
export const disconnectPath = `${path}/connections/disconnect`

/** What the tokens of the page's forms stand for; a form that has made a key is used up by it. */
const createForm = (keys: ReadonlyArray<ApiKey>): string => `create ${keys.find(({ mine }) => mine)?.id ?? "first"}`
const revokeForm = (id: string): string => `revoke ${id}`
const disconnectForm = (id: string): string => `disconnect ${id}`

const defaultDays = String(Duration.toDays(defaultApiKeyExpiry))

const expiries = [
  ["7", "7 days"],
  ["30", "30 days"],
  [defaultDays, `${defaultDays} days`],
  ["365", "1 year"],
  ["never", "Never"]
] as const

/** What stands in the form for a new key. */
interface Draft {
  readonly label: string
  readonly scopes: ReadonlyArray<string>
  readonly expiry: string
}

const emptyDraft: Draft = { label: "", scopes: ["org:read"], expiry: defaultDays }

interface View {
  readonly visit: Visit.Visit
  readonly admin: SignedIn
  readonly csrf: (form: string) => string
  readonly now: number
}

const state = (credential: ApiKey | AiConnection, now: number): "Active" | "Expired" | "Revoked" =>
  credential.revoked_at !== null
    ? "Revoked"
    : credential.expires_at !== null && credential.expires_at.getTime() <= now
    ? "Expired"
    : "Active"

const names = (scopes: ReadonlyArray<Scope>): string => scopes.map((scope) => Html.scopeWords[scope][0]).join(", ")

const facts = (rows: ReadonlyArray<readonly [string, unknown]>): Html.Html =>
  html`<dl>${rows.map(([name, value]) => html`<dt>${name}</dt><dd>${value}</dd>`)}</dl>`

const used = (date: Date | null) => date === null ? "Not yet" : Html.momentOf(date)

const ends = ({ expires_at, revoked_at }: ApiKey | AiConnection) =>
  revoked_at !== null
    ? ["Ended", Html.momentOf(revoked_at)] as const
    : ["Expires", expires_at === null ? "Never" : Html.momentOf(expires_at)] as const

const owner = (credential: ApiKey | AiConnection) =>
  credential.mine ? [] : [["Belongs to", credential.owner_email ?? "Another admin"] as const]

/** A button that asks again before it does what cannot be taken back. */
const confirmed = (
  view: View,
  options: { path: string; form: string; id: string; label: string; verb: string; consequence: string }
): Html.Html =>
  html`<details>
    <summary>${options.verb} …</summary>
    <form method="post" action="${view.visit.base}${options.path}" class="confirm">
      <input type="hidden" name="csrf" value="${view.csrf(options.form)}">
      <input type="hidden" name="id" value="${options.id}">
      <p>${options.consequence}</p>
      <button class="danger">${options.verb} ${options.label}</button>
    </form>
  </details>`

const badge = (text: string): Html.Html => html`<span class="badge${text === "Active" ? "" : " ended"}">${text}</span>`

const key = (view: View) => (key: ApiKey): Html.Html => {
  const current = state(key, view.now)
  return html`<li>
  <h3>${key.label} ${badge(current)}</h3>
  ${
    facts([
      ["May", names(key.scopes)],
      ...owner(key),
      ["Created", Html.dayOf(key.created_at)],
      ["Last used", used(key.last_used_at)],
      ends(key)
    ])
  }
  ${
    current !== "Active" ? undefined : confirmed(view, {
      path: revokePath,
      form: revokeForm(key.id),
      id: key.id,
      label: key.label,
      verb: "Revoke",
      consequence: "Whatever uses this key stops working at once. A revoked key cannot be brought back."
    })
  }
</li>`
}

const reached = ({ account_ids, department_ids, scope_type }: AiConnection): string => {
  const count = (scope_type === "accounts" ? account_ids : department_ids).length
  const noun = scope_type === "accounts" ? "account" : "department"
  return count === 1 ? `1 ${noun}` : `${count} ${noun}s`
}

const applications: Readonly<Record<string, string>> = { assistant_a: "Assistant A", assistant_b: "Assistant B" }

const connection = (view: View) => (connection: AiConnection): Html.Html => {
  const current = state(connection, view.now)
  const { client } = connection
  return html`<li>
  <h3>${connection.label} ${badge(current === "Revoked" ? "Disconnected" : current)}</h3>
  ${
    facts([
      ["May", names(connection.scopes)],
      ["Reaches", reached(connection)],
      ...(client === null ? [] : [
        [
          "Goes to",
          html`<span class="host">${client.host}</span>${
            client.known === null ? "" : html` (the official address of ${applications[client.known] ?? client.known})`
          }`
        ] as const
      ]),
      ...owner(connection),
      ["Connected", Html.dayOf(connection.created_at)],
      ["Last used", used(connection.last_used_at)],
      ends(connection)
    ])
  }
  ${
    current !== "Active" ? undefined : confirmed(view, {
      path: disconnectPath,
      form: disconnectForm(connection.id),
      id: connection.id,
      label: connection.label,
      verb: "Disconnect",
      consequence: "The application loses its access at once. To use it again it has to be connected anew."
    })
  }
</li>`
}

const listed = <A extends ApiKey | AiConnection>(
  view: View,
  all: ReadonlyArray<A>,
  row: (one: A) => Html.Html,
  empty: Html.Html,
  ended: string
): Html.Html => {
  const active = all.filter((one) => state(one, view.now) === "Active")
  const past = all.filter((one) => state(one, view.now) !== "Active")
  return html`${active.length === 0 ? empty : html`<ul class="plain">${active.map(row)}</ul>`}
  ${
    past.length === 0
      ? undefined
      : html`<details><summary>${past.length} ${ended}</summary><ul class="plain">${past.map(row)}</ul></details>`
  }`
}

const newKey = (view: View, keys: ReadonlyArray<ApiKey>, draft: Draft, faults: Html.Faults): Html.Html =>
  html`
<section aria-labelledby="new-key">
  <h2 id="new-key">Create an API key</h2>
  <p class="lead">A key lets a program act as you, within your role and the access that you have at the time.</p>
  <form method="post" action="${view.visit.base}${createPath}">
    <input type="hidden" name="csrf" value="${view.csrf(createForm(keys))}">
    <div class="field">
      <label for="label">Label</label>
      <p class="hint" id="label-hint">What the key is for, such as “Nightly report”. At most ${maxApiKeyLabelLength} characters.</p>
      ${Html.fault(faults, "label")}
      <input type="text" id="label" name="label" required maxlength="${maxApiKeyLabelLength}" value="${draft.label}" autocomplete="off"${
    Html.described(faults, "label", true)
  }>
    </div>
    <fieldset id="scopes">
      <legend>What it may do</legend>
      ${Html.fault(faults, "scopes")}
      ${Html.scopeBoxes(Scope.literals, draft.scopes)}
    </fieldset>
    <div class="field">
      <label for="expiry">Expires</label>
      ${Html.fault(faults, "expiry")}
      <select id="expiry" name="expiry">${
    expiries.map(([value, text]) =>
      html`<option value="${value}"${value === draft.expiry ? " selected" : ""}>${text}</option>`
    )
  }</select>
    </div>
    ${Html.passwordField(faults, view.admin.email)}
    <button class="main">Create key</button>
  </form>
</section>`

interface Shown {
  readonly draft?: Draft
  readonly faults?: Html.Faults
  readonly notice?: string
  readonly status?: number
  readonly headers?: Readonly<Record<string, string>>
}

const show = Effect.fnUntraced(function*(view: View, shown: Shown = {}) {
  const { admin, visit } = view
  const { api_keys, connections } = yield* listAiConnections.call({})
  const faults = shown.faults ?? Html.noFaults
  return yield* Html.respond({
    base: visit.base,
    title: faults.size === 0 ? "Developer" : "Problem: Developer",
    admin,
    signOut: view.csrf(outForm),
    ...(shown.status === undefined ? {} : { status: shown.status }),
    ...(shown.headers === undefined ? {} : { headers: shown.headers }),
    body: html`
<h1>Developer</h1>
<p class="lead">API keys for programs, and the AI applications that are connected to your organization.</p>
<nav aria-label="This page"><a href="#keys">API keys</a><a href="#new-key">Create a key</a><a href="#connections">AI connections</a></nav>
${shown.notice === undefined ? undefined : html`<p class="good" role="status">${shown.notice}</p>`}
${Html.summary(faults)}
<section aria-labelledby="keys">
  <h2 id="keys">API keys</h2>
  ${
      listed(
        view,
        api_keys,
        key(view),
        html`<p class="empty">There is no active API key. Create one below, then send it as <code>Authorization: Bearer …</code> to <code>${visit.site.baseUrl}/v1</code>. What can be asked stands in the <a href="${visit.base}/docs">reference</a>.</p>`,
        "past keys"
      )
    }
</section>
${newKey(view, api_keys, shown.draft ?? emptyDraft, faults)}
<section aria-labelledby="connections">
  <h2 id="connections">AI connections</h2>
  <p class="lead">Names were chosen by the applications and prove nothing; the host shows where access went.</p>
  ${
      listed(
        view,
        connections,
        connection(view),
        html`<p class="empty">No application is connected. In your assistant, add the connector <code>${visit.site.baseUrl}/mcp</code>; it sends you here to choose what it may reach and do.</p>`,
        "past connections"
      )
    }
</section>`
  })
})

/** The page of a new key: the only one that ever shows it. */
const created = (view: View, label: string, secret: Redacted.Redacted, expiresAt: Date | null) =>
  Html.respond({
    base: view.visit.base,
    title: "Key created",
    admin: view.admin,
    signOut: view.csrf(outForm),
    body: html`
<h1>Key created</h1>
<div class="good" role="status"><p>Copy the key now. It is shown this once and cannot be shown again.</p></div>
<div class="card">
  <div class="field">
    <label for="secret">${label}</label>
    <p class="hint" id="secret-hint">Select the whole field and copy it. Keep it where you keep passwords.</p>
    <input type="text" class="key" id="secret" value="${
      Redacted.value(secret)
    }" readonly autocomplete="off" spellcheck="false" aria-describedby="secret-hint">
  </div>
  <p>${expiresAt === null ? "It never expires." : html`It expires on ${Html.dayOf(expiresAt)}.`}</p>
  <a class="button main" href="${view.visit.base}${path}">I have copied it</a>
</div>`
  })

/** Runs a page of the admin who is signed in; anybody else signs in first. */
const asAdmin = <E, R>(
  visit: Visit.Visit,
  run: (view: View) => Effect.Effect<Effect.Success<ReturnType<typeof Html.respond>>, E, R>
) =>
  Effect.gen(function*() {
    const found = yield* Visit.admin(visit)
    if (Option.isNone(found)) return Visit.toSignIn(visit, path)
    const sessions = yield* ConsoleSessions
    const admin = found.value
    const view: View = {
      visit,
      admin,
      csrf: (form) => sessions.csrf(admin.sessionId, form),
      now: yield* Clock.currentTimeMillis
    }
    return yield* Effect.provideService(run(view), Caller, Visit.caller(visit, admin))
  })

const notices: Readonly<Record<string, string>> = {
  "key-revoked": "The key is revoked.",
  "disconnected": "The application is disconnected."
}

export const get = (visit: Visit.Visit) =>
  asAdmin(visit, (view) => {
    const notice = notices[new URLSearchParams(visit.query).get("done") ?? ""]
    return show(view, notice === undefined ? {} : { notice })
  })

const fields: Readonly<Record<string, readonly [id: string, text: string]>> = {
  label: ["label", "Give the key a label of at most 60 characters."],
  scopes: ["scopes", "Tick at least one thing that the key may do."],
  expires_in_days: ["expiry", "Choose when the key expires."]
}

const isScope = (text: string): text is Scope => Scope.literals.some((scope) => scope === text)

/** Makes a key; a form that is sent again makes no second one. */
export const create = (visit: Visit.Visit) =>
  asAdmin(visit, (view) =>
    Effect.gen(function*() {
      const sent = yield* Visit.form(visit)
      if (Option.isNone(sent)) return yield* Visit.foreignForm(visit)
      const form = sent.value
      const sessions = yield* ConsoleSessions
      const { api_keys } = yield* listAiConnections.call({})
      if (!sessions.verifyCsrf(view.admin.sessionId, createForm(api_keys), form.text("csrf"))) {
        return yield* Visit.foreignForm(visit)
      }
      const draft = { label: form.text("label"), scopes: form.all("scope"), expiry: form.text("expiry") }
      const again = (status: number, id: string, text: string, headers = {}) =>
        show(view, { draft, faults: new Map([[id, text]]), status, headers })
      const password = form.text("password")
      return yield* createApiKey.call({
        label: draft.label,
        scopes: draft.scopes.filter(isScope),
        expires_in_days: draft.expiry === "never" ? null : Number(draft.expiry),
        ...(password === "" ? {} : { current_password: password })
      }).pipe(
        Visit.tellRefusal,
        Effect.flatMap(({ expires_at, label, secret }) =>
          secret === null ? show(view) : created(view, label, secret, expires_at)
        ),
        Effect.catchTag("parameter_invalid", ({ message, param }) => {
          const [id, text] = fields[param ?? ""] ?? ["password", message]
          return again(400, id, text)
        }),
        Effect.catchTag(
          "password_required",
          () => again(403, "password", "Enter your console password: what you have ticked needs it.")
        ),
        Effect.catchTag("password_incorrect", ({ message }) => again(403, "password", message)),
        Effect.catchTag(
          "too_many_attempts",
          ({ message, retry_after }) => again(429, "password", message, { "retry-after": String(retry_after) })
        )
      )
    }))

/** A form about one credential: its token stands for the id. */
const about = <E, R>(
  visit: Visit.Visit,
  formOf: (id: string) => string,
  done: string,
  run: (id: string) => Effect.Effect<unknown, E, R>
) =>
  asAdmin(visit, (view) =>
    Effect.gen(function*() {
      const form = yield* Visit.form(visit)
      if (Option.isNone(form)) return yield* Visit.foreignForm(visit)
      const sessions = yield* ConsoleSessions
      const id = form.value.text("id")
      if (!sessions.verifyCsrf(view.admin.sessionId, formOf(id), form.value.text("csrf"))) {
        return yield* Visit.foreignForm(visit)
      }
      yield* run(id)
      return Html.redirect(`${visit.base}${path}?done=${done}`)
    }))

export const revoke = (visit: Visit.Visit) =>
  about(visit, revokeForm, "key-revoked", (id) => revokeApiKey.call({ api_key_id: id }))

export const disconnect = (visit: Visit.Visit) =>
  about(visit, disconnectForm, "disconnected", (id) => revokeAiConnection.call({ connection_id: id }))
