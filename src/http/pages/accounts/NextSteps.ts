/** The steps that secure an account that has just been connected, and how far each is. */
import { Effect, Option } from "effect"
import type { AccountDetail } from "../../../domain/accounts/Account.ts"
import type { MessengerProfile } from "../../../domain/accounts/MessengerProfile.ts"
import { getAccountMessengerProfile } from "../../../operations/accounts/get_account_messenger_profile.ts"
import { type AdminPage, type Html, html } from "../kit/index.ts"
import { pathOf } from "../security/AccountSecuritySections.ts"
import * as Statuses from "./Statuses.ts"

interface Step {
  readonly title: string
  readonly why: string
  readonly to: string
  /** Undefined where the service cannot know. */
  readonly done: boolean | undefined
}

const steps = (base: string, account: AccountDetail, profile: typeof MessengerProfile.Type | null) => {
  const security = `${base}${pathOf(account.id)}`
  const all: ReadonlyArray<Step> = [
    {
      title: "Check where it is signed in",
      why: "Devices that were there before are not reviewed. Ask the holder whether each is theirs.",
      to: "#sessions",
      done: undefined
    },
    {
      title: "Have the service set a 2FA password",
      why: "With it, a stolen code is not enough to sign in.",
      to: `${security}#two-fa`,
      done: profile?.two_fa_managed
    },
    {
      title: "Set a recovery address that your organization reads",
      why: "The 2FA password can be reset through it.",
      to: `${security}#recovery`,
      done: profile === null ? undefined : profile.recovery_email_pattern !== null
    },
    {
      title: "Sign in a second session of the service",
      why: "Protection goes on through it where the first one is lost.",
      to: `${security}#paired`,
      done: profile === null ? undefined : profile.paired_session.state === "active"
    },
    {
      title: "Add a passkey of the service",
      why: "With it the service can sign in where codes do not arrive.",
      to: `${security}#passkey`,
      done: profile?.passkey_managed
    },
    {
      title: "File it under a department",
      why: "Admins who are granted the department can access the account.",
      to: "#about",
      done: account.department_id !== null
    }
  ]
  return all
}

const row = ({ done, title, to, why }: Step): Html.Html =>
  html`<li>
  <div class="head"><h3><a href="${to}">${title}</a></h3> ${
    done === true ? Statuses.mark("good", "Done") : Statuses.mark("note", done === false ? "Open" : "To check")
  }</div>
  <p class="hint">${why}</p>
</li>`

/** The steps in their order. */
export const section = Effect.fnUntraced(function*({ visit }: AdminPage, account: AccountDetail) {
  const profile = yield* Effect.option(getAccountMessengerProfile.call({ account_id: account.id }))
  return html`
<section aria-labelledby="next">
  <h2 id="next">What to secure next</h2>
  <ol class="plain">${steps(visit.base, account, Option.getOrNull(profile)).map(row)}</ol>
</section>`
})
