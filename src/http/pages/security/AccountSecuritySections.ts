/** The sections of the page of an account's security, and its forms. */
import type { MessengerProfile } from "../../../domain/accounts/MessengerProfile.ts"
import { maxEmailLength } from "../../../domain/Limits.ts"
import { superadmins } from "../../../domain/people/Access.ts"
import { type EmailChangeFacts, type EmailKind, isOpen } from "../../../domain/security/Security.ts"
import * as Statuses from "../accounts/Statuses.ts"
import { type AdminPage, Fields, Forms, Html, html, Times } from "../kit/index.ts"

/** The forms, each by the end of its address. */
export type SecurityAction =
  | "set-two-fa"
  | "remove-two-fa"
  | `${"set" | "confirm"}-${EmailKind}-email`
  | "remove-recovery-email"
  | "add-passkey"
  | "remove-passkey"
  | "create-paired-session"
  | "remove-paired-session"

export const pathOf = (accountId: string): `/${string}` => `/console/accounts/${accountId}/security`

/** The facts that the page shows, and the form that was refused. */
export interface Secured {
  readonly view: AdminPage
  readonly id: string
  /** Null where the messenger does not report it. */
  readonly profile: typeof MessengerProfile.Type | null
  readonly changes: Readonly<Record<EmailKind, EmailChangeFacts | null>>
  readonly faults: Html.Faults
}

/** True if the messenger reports the security settings, and not only the profile. */
const isRead = (profile: Secured["profile"]): boolean => profile !== null && profile.two_fa_present !== null

const opened = (id: string, action: SecurityAction): Forms.FormOpening => ({ path: `${pathOf(id)}/${action}` })

const form = ({ id, view }: Secured, action: SecurityAction, content: Html.Html): Html.Html =>
  Forms.open(view, opened(id, action), content)

const confirmed = ({ id, view }: Secured, action: SecurityAction, verb: string, consequence: string): Html.Html =>
  Forms.confirmed(view, { ...opened(id, action), verb, consequence, grave: true })

/** A field, whose id begins with that of its form. */
const field = (
  { faults }: Secured,
  action: SecurityAction,
  asked: Fields.Field,
  more: Fields.Attributes
): Html.Html => Fields.input(faults, { ...asked, id: `${action}-${asked.name}` }, more)

/** Asks for the holder's password, where the service does not keep the account's. */
const holders = (secured: Secured, action: SecurityAction): Html.Html | undefined => {
  const { profile } = secured
  if (profile?.two_fa_present === false || profile?.two_fa_managed === true) return undefined
  return Fields.password(secured.faults, {
    name: "current_password",
    id: `${action}-current_password`,
    label: "The holder’s 2FA password",
    hint: profile === null
      ? "Only where the account has one that the service does not keep. It is used this once."
      : "The account has one that the service does not keep. It is used this once.",
    autocomplete: "off",
    required: false
  })
}

export const twoFa = (secured: Secured): Html.Html => {
  const { id, profile, view } = secured
  const managed = profile?.two_fa_managed === true
  const present = profile?.two_fa_present
  return html`<section aria-labelledby="two-fa">
  <div class="head"><h2 id="two-fa">2FA password</h2> ${
    present === true
      ? Statuses.mark("good", managed ? "On, kept by the service" : "On, the holder’s own")
      : present === false
      ? Statuses.mark("caution", "Off")
      : Statuses.mark("off", "Unknown")
  }</div>
  <p class="hint">Whoever signs in to the account needs it besides the code.</p>
  ${
    managed && superadmins.includes(view.admin.role)
      ? html`<p class="after"><a href="${view.visit.base}/console/accounts/${id}/secrets">Read the password, to hand it to the holder</a></p>`
      : undefined
  }
  <div class="deeds">
    <div>
      <p>The service makes a strong password, sets it on the messenger and keeps it.${
    present === false ? "" : " The one before works no longer, the holder’s neither."
  }</p>
      ${
    form(
      secured,
      "set-two-fa",
      html`${holders(secured, "set-two-fa")}
      <button>${managed ? "Replace the password" : "Set a password"}</button>`
    )
  }
    </div>
    ${
    managed
      ? html`<div>${
        confirmed(
          secured,
          "remove-two-fa",
          "Remove the password",
          "Whoever gets a code signs in to the account from then on. The recovery address is removed too."
        )
      }</div>`
      : undefined
  }
  </div>
</section>`
}

const words = {
  recovery: {
    title: "Recovery address",
    what: "Whoever reads its mails can reset the 2FA password. The messenger sends a code to the new address first."
  },
  login: {
    title: "Login address",
    what: "The messenger sends the codes for signing in to it. It sends one to the new address first."
  }
}

const confirmation = (secured: Secured, kind: EmailKind): Html.Html | undefined => {
  const change = secured.changes[kind]
  if (change === null || !isOpen(change, new Date(secured.view.now))) return undefined
  const { attempts_left, code_length, expires_at, pattern } = change
  const action: SecurityAction = `confirm-${kind}-email`
  return html`<div>
      <p role="status">A code was sent to ${Html.named(pattern)}. It is taken until ${Html.momentOf(expires_at)}.</p>
      ${
    form(
      secured,
      action,
      html`${
        field(secured, action, {
          name: "code",
          label: "Code from the mail",
          hint: `${code_length === null ? "" : `${code_length} digits. `}${
            attempts_left === 1 ? "1 entry is left." : `${attempts_left} entries are left.`
          }`
        }, { required: true, inputmode: "numeric", autocomplete: "one-time-code", spellcheck: "false", maxlength: 32 })
      }
      <button class="main">Enter the code</button>`
    )
  }
    </div>`
}

const setting = (secured: Secured, kind: EmailKind): Html.Html => {
  const action: SecurityAction = `set-${kind}-email`
  return html`<div>${
    form(
      secured,
      action,
      html`${
        field(secured, action, {
          name: "email",
          label: "New address",
          hint: "One that your organization reads."
        }, { type: "email", required: true, maxlength: maxEmailLength, autocapitalize: "none", ...Fields.verbatim })
      }
      <button>Send a code to it</button>`
    )
  }</div>`
}

export const address = (secured: Secured, kind: EmailKind): Html.Html => {
  const { changes, profile } = secured
  const { title, what } = words[kind]
  const pattern = kind === "recovery" ? profile?.recovery_email_pattern : profile?.login_email_pattern
  const lacking = profile === null
    ? undefined
    : kind === "recovery" && !profile.two_fa_managed
    ? "It is set with the 2FA password, which the service has to keep: set one first."
    : kind === "login" && profile.login_email_pattern === null && isRead(profile)
    ? "The messenger lets the service change one that the holder has set, and there is none."
    : undefined
  return html`<section aria-labelledby="${kind}">
  <div class="head"><h2 id="${kind}">${title}</h2> ${
    typeof pattern === "string"
      ? Statuses.mark("good", Html.named(pattern))
      : Statuses.mark("off", isRead(profile) ? "None" : "Unknown")
  }</div>
  <p class="hint">${what}</p>
  <div class="deeds">
    ${confirmation(secured, kind)}
    ${lacking === undefined ? setting(secured, kind) : html`<div><p>${lacking}</p></div>`}
    ${
    kind === "recovery" && (typeof pattern === "string" || changes.recovery !== null || !isRead(profile))
      ? html`<div>${
        confirmed(
          secured,
          "remove-recovery-email",
          "Remove the address",
          "Nobody can reset the 2FA password by mail from then on. An address that waits for its code is forgotten too."
        )
      }</div>`
      : undefined
  }
  </div>
</section>`
}

export const passkey = (secured: Secured): Html.Html => {
  const { profile, view } = secured
  const managed = profile?.passkey_managed === true
  const from = profile?.passkey_eligible_at ?? null
  return html`<section aria-labelledby="passkey">
  <div class="head"><h2 id="passkey">Passkey of the service</h2> ${
    !isRead(profile)
      ? Statuses.mark("off", "Unknown")
      : managed
      ? Statuses.mark("good", "Added")
      : Statuses.mark("off", profile?.passkey_present === true ? "Only the holder’s" : "None")
  }</div>
  <p class="hint">With it the service can sign in where codes do not arrive. The key never leaves the service; passkeys of the holder’s stay as they are.</p>
  <div class="deeds"><div>${
    managed
      ? confirmed(
        secured,
        "remove-passkey",
        "Remove the passkey",
        "The service forgets its key, and needs a code or its other sessions from then on."
      )
      : from !== null && from.getTime() > view.now
      ? html`<p>The messenger lets the service add one ${Times.when(from, view.now)}.</p>`
      : form(secured, "add-passkey", html`<button>Add a passkey</button>`)
  }</div></div>
</section>`
}

export const paired = (secured: Secured): Html.Html => {
  const { profile, view } = secured
  const { error, since, state } = profile?.paired_session ?? { error: null, since: null, state: null }
  const tone = state === "active" ? "good" : state === "lost" ? "danger" : "off"
  return html`<section aria-labelledby="paired">
  <div class="head"><h2 id="paired">Second session</h2> ${
    Statuses.mark(tone, state === null ? "Unknown" : state === "active" ? "On" : state === "lost" ? "Lost" : "None")
  }</div>
  <p class="hint">The service signs in to the account a second time, and goes on there where its first session is lost.${
    since === null ?
      undefined :
      html` ${state === "lost" ? "Lost" : "Since"} ${Times.ago(since, view.now)}${
        error === null ? "" : html` (${Html.named(error)})`
      }.`
  }</p>
  <div class="deeds">
    ${
    state === "active" ? undefined : html`<div>${
      form(
        secured,
        "create-paired-session",
        html`${holders(secured, "create-paired-session")}
      <button>Sign in a second session</button>`
      )
    }</div>`
  }
    ${
    state === "none" ? undefined : html`<div>${
      confirmed(
        secured,
        "remove-paired-session",
        "Remove the second session",
        "It is signed out. If the first session is lost then, the account is protected no longer."
      )
    }</div>`
  }
  </div>
</section>`
}
