/** The consent page: who asks, where the access goes, and what of it the admin grants. */
import { Effect, Option } from "effect"
import { needsPassword } from "../../domain/Access.ts"
import { ResourceMissing } from "../../domain/Failure.ts"
import * as Authorize from "../../oauth/authorize/Authorize.ts"
import { ConsoleSessions, type SignedIn } from "../../oauth/ConsoleSessions.ts"
import type { Choices } from "../../oauth/Ports.ts"
import * as Html from "./Html.ts"
import { html } from "./Html.ts"
import { outForm } from "./SignIn.ts"
import * as Visit from "./Visit.ts"

export const path = "/oauth/authorize"

/** What the token of the form stands for: the exact query. */
const consentForm = (query: string): string => `authorize ${query}`

/** What stands in the form. */
interface Draft {
  readonly scopes: ReadonlyArray<string>
  readonly scopeType: "accounts" | "departments"
  readonly ids: ReadonlyArray<string>
  readonly everything: boolean
}

interface Shown {
  readonly draft: Draft
  readonly faults: Html.Faults
  readonly status?: number
  readonly headers?: Readonly<Record<string, string>>
}

/**
 * Where the form may lead: browsers apply the policy to every redirect that follows it, and what applications answer at
 * their address is often one more redirect to a page of theirs.
 */
const formAction = (redirectUri: string): string => {
  const { origin, protocol } = new URL(redirectUri)
  return protocol === "https:" ? "https:" : `${origin} https:`
}

const box = (
  name: string,
  { id, text, hint, ticked }: { id: string; text: string; hint: string | undefined; ticked: boolean }
): Html.Html =>
  html`
  <div class="choice">
    <input type="checkbox" id="${name}-${id}" name="${name}" value="${id}"${ticked ? " checked" : ""}>
    <label for="${name}-${id}"><span class="name">${text}</span>${
    hint === undefined ? undefined : html` <span class="hint">${hint}</span>`
  }</label>
  </div>`

const everything = (draft: Draft, count: number): Html.Html | undefined =>
  count < 2 ? undefined : box("everything", {
    id: "accounts",
    text: `All ${count} accounts`,
    hint: "Those that you reach now; accounts that are added later are not among them.",
    ticked: draft.everything
  })

const reach = ({ accounts, departments }: Choices, { draft, faults }: Shown): Html.Html => {
  if (accounts.length === 0 && departments.length === 0) {
    return html`<p class="hint">You reach no accounts, so the application reaches none either.</p>`
  }
  const accountBoxes = html`
  <div class="choices by-accounts" role="group" aria-label="Accounts" tabindex="0">
    ${everything(draft, accounts.length)}
    ${
    accounts.map(({ id, name, phone_number, role_label }) =>
      box("account", {
        id,
        text: name,
        hint: [...(name === phone_number ? [] : [phone_number]), ...(role_label === null ? [] : [role_label])].join(
          " · "
        ),
        ticked: draft.scopeType === "accounts" && draft.ids.includes(id)
      })
    )
  }
  </div>`
  const departmentBoxes = html`
  <div class="choices by-departments" role="group" aria-label="Departments" tabindex="0">
    ${
    departments.map(({ id, name }) =>
      box("department", {
        id,
        text: name,
        hint: undefined,
        ticked: draft.scopeType === "departments" && draft.ids.includes(id)
      })
    )
  }
  </div>`
  const radio = (type: Draft["scopeType"], text: string, hint: string) =>
    html`
  <div class="choice">
    <input type="radio" id="by-${type}" name="scope_type" value="${type}"${draft.scopeType === type ? " checked" : ""}>
    <label for="by-${type}"><span class="name">${text}</span> <span class="hint">${hint}</span></label>
  </div>`
  return html`
<fieldset id="reach">
  <legend>Which accounts it reaches</legend>
  ${Html.fault(faults, "reach")}
  ${
    departments.length === 0
      ? html`<input type="hidden" name="scope_type" value="accounts">${accountBoxes}`
      : html`${radio("accounts", "Accounts", "Only those that you tick.")}${accountBoxes}
  ${radio("departments", "Departments", "Whichever accounts are in them at the time.")}${departmentBoxes}`
  }
</fieldset>`
}

const applications: Readonly<Record<string, string>> = { assistant_a: "Assistant A", assistant_b: "Assistant B" }

const show = Effect.fnUntraced(
  function*(visit: Visit.Visit, admin: SignedIn, request: Authorize.AuthorizeRequest, shown: Shown) {
    const sessions = yield* ConsoleSessions
    const choices = yield* Authorize.choices(admin)
    const { base, query } = visit
    const { faults } = shown
    return yield* Html.respond({
      base,
      title: faults.size === 0 ? "Connect an application" : "Problem: connect an application",
      admin,
      signOut: sessions.csrf(admin.sessionId, outForm),
      returnTo: `${path}?${query}`,
      formAction: formAction(request.redirectUri),
      ...(shown.status === undefined ? {} : { status: shown.status }),
      ...(shown.headers === undefined ? {} : { headers: shown.headers }),
      body: html`
<h1>Connect “${request.client.name}”?</h1>
<p class="lead">It asks to act as you in ${admin.organizationName}, through the ${
        request.resource === "mcp" ? "tools for assistants" : "API"
      }.</p>
<div class="note">
  <p>Access goes to <strong class="host">${request.host}</strong>${
        request.known === null
          ? html`. The name above was chosen by the application and proves nothing.`
          : html`, the official address of ${
            applications[request.known] ?? request.known
          }. The name above was chosen by the application and proves nothing by itself.`
      }</p>
  <p>Allow this only if you have just started it yourself, and this host is where you expect your application to be.</p>
</div>
${Html.summary(faults)}
<form method="post" action="${base}${path}?${query}">
  <input type="hidden" name="csrf" value="${sessions.csrf(admin.sessionId, consentForm(query))}">
  <section aria-label="Reach">${reach(choices, shown)}</section>
  <section aria-label="Permissions">
    <fieldset id="scopes">
      <legend>What it may do</legend>
      <p class="hint">Never more than your own role and access allow at the time.</p>
      ${Html.fault(faults, "scopes")}
      ${Html.scopeBoxes(request.offered, shown.draft.scopes)}
    </fieldset>
    ${request.offered.some(needsPassword) ? Html.passwordField(faults, admin.email) : undefined}
  </section>
  <div class="actions even">
    <button class="main" name="decision" value="allow">Allow</button>
    <button name="decision" value="deny">Deny</button>
  </div>
</form>
<p class="hint after">You can disconnect it at any time on the <a href="${base}/console/developer">Developer page</a>.</p>`
    })
  }
)

const uuid = /^[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}$/

const reasons = {
  client_id:
    "The application that sent you here is not registered with this service, or its registration has ended because nobody connected it within a day.",
  redirect_uri: "The application that sent you here wants the answer at an address that it has not registered."
}

/** Checks the request as it stands, and hands it to `decide` once an admin may decide. */
const checked = <E, R>(
  visit: Visit.Visit,
  decide: (
    request: Authorize.AuthorizeRequest,
    admin: SignedIn
  ) => Effect.Effect<ReturnType<typeof Html.redirect>, E, R>
) =>
  Effect.gen(function*() {
    const found = yield* Authorize.check(visit.query, visit.site, yield* Visit.admin(visit))
    switch (found._tag) {
      case "Page":
        return yield* Visit.problem(visit.base, visit.requestId, {
          status: 400,
          title: "This application cannot be connected",
          text: reasons[found.reason],
          advice: "Start again from the application. If it happens again, tell the people who make it."
        })
      case "SignIn":
        return Visit.toSignIn(visit, `${path}?${visit.query}`)
      case "Redirect":
        return Html.redirect(found.location)
      case "Ready":
        return found.admin.organizationClosed
          ? yield* Visit.problem(visit.base, visit.requestId, {
            status: 403,
            title: "This organization is closed",
            text: "It has been wound down: no application can be connected to it.",
            advice: "Sign out and sign in with another organization."
          })
          : yield* decide(found.request, found.admin)
    }
  })

export const get = (visit: Visit.Visit) =>
  checked(visit, (request, admin) =>
    show(visit, admin, request, {
      draft: { scopes: request.ticked, scopeType: "accounts", ids: [], everything: false },
      faults: Html.noFaults
    }))

/** Everything is checked again: the form counts only for the query and the session that it was made for. */
export const post = (visit: Visit.Visit) =>
  checked(visit, (request, admin) =>
    Effect.gen(function*() {
      const sent = yield* Visit.form(visit)
      if (Option.isNone(sent)) return yield* Visit.foreignForm(visit)
      const form = sent.value
      const sessions = yield* ConsoleSessions
      if (!sessions.verifyCsrf(admin.sessionId, consentForm(visit.query), form.text("csrf"))) {
        return yield* Visit.foreignForm(visit)
      }
      const decision = form.text("decision")
      if (decision === "deny") return Html.redirect(Authorize.deny(request))
      if (decision !== "allow") return yield* Visit.foreignForm(visit)
      const choices = yield* Authorize.choices(admin)
      const scopeType = form.text("scope_type") === "departments" ? "departments" as const : "accounts" as const
      const all = scopeType === "accounts" && form.all("everything").includes("accounts")
      const ids = all
        ? choices.accounts.map(({ id }) => id)
        : form.all(scopeType === "accounts" ? "account" : "department")
      const draft: Draft = { scopes: form.all("scope"), scopeType, ids, everything: all }
      const again = (status: number, id: string, text: string, headers = {}) =>
        show(visit, admin, request, { draft, faults: new Map([[id, text]]), status, headers })
      if (ids.length === 0 && choices.accounts.length + choices.departments.length > 0) {
        return yield* again(422, "reach", "Tick at least one account or department.")
      }
      if (!ids.every((id) => uuid.test(id))) return yield* new ResourceMissing({})
      return yield* Authorize.grant(request, admin, {
        scopes: draft.scopes,
        scopeType,
        ids,
        password: form.secret("password")
      }, {
        ip: visit.ip,
        requestId: visit.requestId
      }).pipe(
        Visit.tellRefusal,
        Effect.map((location) => Html.redirect(location)),
        Effect.catchTag(
          "NothingChosen",
          () => again(422, "scopes", "Tick at least one thing that it may do, or deny.")
        ),
        Effect.catchTag("OutOfReach", () => Effect.fail(new ResourceMissing({}))),
        Effect.catchTag("AdminGone", () => Effect.succeed(Visit.toSignIn(visit, `${path}?${visit.query}`))),
        Effect.catchTag("password_incorrect", ({ message }) => again(403, "password", message)),
        Effect.catchTag(
          "too_many_attempts",
          ({ message, retry_after }) => again(429, "password", message, { "retry-after": String(retry_after) })
        )
      )
    }))
