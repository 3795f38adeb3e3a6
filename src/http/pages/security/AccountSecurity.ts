/** The security of an account on the messenger; each change is explained before it is made. */
import { Effect } from "effect"
import { type AccountDetail, AccountId } from "../../../domain/accounts/Account.ts"
import { getAccount } from "../../../operations/accounts/get_account.ts"
import { getAccountMessengerProfile } from "../../../operations/accounts/get_account_messenger_profile.ts"
import { Db } from "../../../ports/Db.ts"
import { EmailChanges } from "../../../ports/security/EmailChanges.ts"
import { answer } from "../../../transport/Answer.ts"
import * as AccountForms from "../accounts/AccountForms.ts"
import { type AdminPage, Form, Frame, Html, html } from "../kit/index.ts"
import * as StepUp from "../signin/StepUp.ts"
import { address, paired, passkey, pathOf, type Secured, twoFa } from "./AccountSecuritySections.ts"

const load = Effect.fnUntraced(function*(view: AdminPage, account: AccountDetail) {
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

/** The fields of several forms have one name: their ids begin with that of their form. */
const withFormIds = (outcome: Form.Outcome): Form.Outcome => ({
  ...outcome,
  faults: new Map([...outcome.faults].map(([name, text]) => [`${outcome.form ?? ""}-${name}`, text]))
})

/** The page of the account's security. */
export const show = Effect.fnUntraced(function*(view: AdminPage, id: string, sent: Form.Outcome) {
  const { base } = view.visit
  const outcome = withFormIds(sent)
  const account = yield* getAccount.call({ account_id: id })
  const { changes, profile, unread } = yield* load(view, account)
  const note = yield* StepUp.note(view, pathOf(id), "Changing what secures an account")
  const secured: Secured = { view, id, profile, changes, faults: outcome.faults }
  return yield* Frame.page(view, {
    title: `Security of ${account.name}`,
    wide: true,
    outcome,
    body: html`
<p class="back"><a href="${base}${AccountForms.pathOf(id)}">The account</a></p>
<h1>Security of ${Html.named(account.name)}</h1>
${Form.notice(outcome)}
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
