/** The security of an account on the messenger; each change is explained before it is made. */
import { Effect } from "effect"
import { type AccountDetail, AccountId } from "../../../domain/accounts/Account.ts"
import { protectors } from "../../../domain/people/Access.ts"
import { getAccount } from "../../../operations/accounts/get_account.ts"
import { getAccountMessengerProfile } from "../../../operations/accounts/get_account_messenger_profile.ts"
import { Db } from "../../../ports/Db.ts"
import { EmailChanges } from "../../../ports/security/EmailChanges.ts"
import { answer } from "../../../transport/Answer.ts"
import * as AccountForms from "../accounts/AccountForms.ts"
import * as Frame from "../kit/Frame.ts"
import * as Html from "../kit/Html.ts"
import { html } from "../kit/Html.ts"
import * as Problem from "../kit/Problem.ts"
import * as Refused from "../kit/RefusedForms.ts"
import type * as Visit from "../kit/Visit.ts"
import * as StepUp from "../signin/StepUp.ts"
import {
  address,
  inputs,
  paired,
  passkey,
  pathOf,
  type Secured,
  type SecurityAction,
  twoFa
} from "./AccountSecuritySections.ts"

export { pathOf, type SecurityAction, token } from "./AccountSecuritySections.ts"

/** The outcome of a form that was sent. */
export interface SecurityFormResult {
  readonly done?: string | undefined
  readonly refused?: Refused.RefusedForm
  /** The form that was refused. */
  readonly action?: SecurityAction
}

const load = Effect.fnUntraced(function*(view: Visit.View, account: AccountDetail) {
  const db = yield* Db
  const changes = yield* EmailChanges
  const of = { organizationId: view.admin.organizationId, accountId: AccountId.make(account.id) }
  const pending = yield* db.read(
    of.organizationId,
    Effect.all({ recovery: changes.find(of, "recovery"), login: changes.find(of, "login") })
  )
  const read = yield* Effect.match(getAccountMessengerProfile.call({ account_id: account.id }), {
    onSuccess: (profile) => ({ profile, unread: undefined }),
    onFailure: (failure) => ({ profile: null, unread: answer(failure).body.error.message })
  })
  return { changes: pending, ...read }
})

/** The place of a refusal: at a field of its form, or above the page. */
const faultsOf = ({ action, refused }: SecurityFormResult): Html.Faults =>
  new Map([...Refused.faultsOf(refused, inputs)].map(([name, text]) => [`${action ?? ""}-${name}`, text]))

/** The page of the account's security. */
export const show = Effect.fnUntraced(function*(view: Visit.View, id: string, shown: SecurityFormResult) {
  const { base } = view.visit
  if (!protectors.includes(view.admin.role)) {
    return yield* Problem.notForRole(
      view.visit,
      "The owner, superadmins and admins see and change how accounts are secured."
    )
  }
  const account = yield* getAccount.call({ account_id: id })
  const { changes, profile, unread } = yield* load(view, account)
  const note = yield* StepUp.note(view, pathOf(id), "Changing what secures an account")
  const faults = faultsOf(shown)
  const secured: Secured = { view, id, profile, changes, faults }
  const { done, refused } = shown
  return yield* Frame.page(view, {
    title: `${refused === undefined ? "Security" : "Problem: security"} of ${account.name}`,
    wide: true,
    status: refused?.status,
    headers: refused?.headers,
    body: html`
<p class="back"><a href="${base}${AccountForms.pathOf(id)}">The account</a></p>
<h1>Security of ${Html.named(account.name)}</h1>
${done === undefined ? undefined : html`<p class="good" role="status">${done}</p>`}
${faults.size > 0 ? Html.summary(faults) : Refused.box(refused?.problem)}
${note}
${
      unread === undefined
        ? undefined
        : html`<div class="warning"><h2>The messenger does not say how the account is secured</h2><p>${unread}</p></div>`
    }
${
      account.status === "available"
        ? undefined
        : html`<div class="columns even">
<div>${twoFa(secured)}${address(secured, "recovery")}${address(secured, "login")}</div>
<div>${passkey(secured)}${paired(secured)}</div>
</div>`
    }`
  })
})
