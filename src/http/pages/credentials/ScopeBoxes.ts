/** The scopes in plain words, and as boxes to tick: what reads, what changes, and what cannot be undone. */
import { scopeTexts } from "../../../domain/credentials/ScopeTexts.ts"
import { isIrreversible, needsPassword, type Scope } from "../../../domain/people/Access.ts"
import { Fields, type Html, html } from "../kit/index.ts"

/** The reach of a scope beyond the accounts that a connection is limited to, as far as the admin's role allows it. */
const wholeOrganization: { readonly [S in Scope]?: string } = {
  "org:read": "the organization itself, its departments, admins, settings, plan and connections",
  "accounts:write": "who gets its security emails, your own emails, and support requests",
  "security:write": "its lockdown after a takeover",
  "admins:write": "invite and remove admins, change their roles, manage departments, revoke keys and connections"
}

const groups: ReadonlyArray<readonly [id: string, legend: string, has: (scope: Scope) => boolean]> = [
  ["read", "Read", (scope) => !needsPassword(scope)],
  ["change", "Change", (scope) => needsPassword(scope) && !isIrreversible(scope)],
  ["irreversible", "Cannot be undone", isIrreversible]
]

const box = (scope: Scope, ticked: boolean, limited: boolean): Html.Html => {
  const id = `scope-${scope.replace(":", "-")}`
  const { allows, name } = scopeTexts[scope]
  const wide = limited ? wholeOrganization[scope] : undefined
  return html`
  <div class="choice">
    <input type="checkbox" id="${id}" name="scope" value="${scope}"${
    ticked ? " checked" : ""
  } aria-describedby="${id}-hint">
    <div>
      <label for="${id}" class="name">${name}</label>
      <p class="hint" id="${id}-hint">${allows}${
    wide === undefined
      ? undefined
      : html` <span class="wide">Also for the whole organization, whichever accounts you choose: ${wide}.</span>`
  }</p>
    </div>
  </div>`
}

/** The scopes as boxes to tick; those of a connection come with what its choice of accounts does not limit. */
export const boxes = (
  scopes: ReadonlyArray<Scope>,
  ticked: ReadonlyArray<string>,
  { limited }: { readonly limited: boolean }
): Html.Html =>
  html`${
    groups.map(([id, legend, has]) => {
      const within = scopes.filter(has)
      return within.length === 0 ? undefined : html`
  <fieldset class="group ${id}">
    <legend>${legend}</legend>
    ${within.map((scope) => box(scope, ticked.includes(scope), limited))}
  </fieldset>`
    })
  }`

/** The names of scopes in one line. */
export const names = (scopes: ReadonlyArray<Scope>): string => scopes.map((scope) => scopeTexts[scope].name).join(", ")

/** The sentence on when the password, and the second factor, are needed. */
export const whenNeeded = "Needed when you tick anything under “Change” or “Cannot be undone”."

/** The password field of a form that may grant more than reading. */
export const passwordField = (faults: Html.Faults, username: string): Html.Html =>
  Fields.password(faults, { hint: whenNeeded, required: false, username })
