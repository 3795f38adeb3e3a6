/** Mails about admins, their access and their requests. */
import { Redacted } from "effect"
import type { Role } from "../people/Access.ts"
import { moment, quoted } from "./Letter.ts"
import { mailKind } from "./Mail.ts"

/** A link that works once, for anyone who has it. */
interface SecretLink {
  readonly adminId: string
  readonly link: Redacted.Redacted
  readonly expiresAt: Date
}

const admin = (facts: { readonly adminId: string }): string => facts.adminId

const unexpected = "If you did not expect this, tell another superadmin or the support at once."

export const invitation = mailKind("invitation", {
  when: "An admin is invited, or the invitation is sent again.",
  to: "admin",
  admin,
  write: (facts: SecretLink & { readonly organizationName: string; readonly role: Role }) => ({
    subject: `Invitation to the security console of ${quoted(facts.organizationName)}`,
    paragraphs: [
      `You are invited to the security console of ${quoted(facts.organizationName)}, with the role ${facts.role}.`,
      "Open this link to choose a password. It works once, and is meant for you alone.",
      { link: Redacted.value(facts.link) },
      `The invitation ends on ${moment(facts.expiresAt)}.`,
      "If you do not know what this is about, ignore this mail."
    ]
  })
})

export const passwordReset = mailKind("password_reset", {
  when: "A link is made by which an admin chooses a new password.",
  to: "admin",
  admin,
  write: (facts: SecretLink) => ({
    subject: "Choose a new password",
    paragraphs: [
      "Open this link to choose a new password for the security console. It works once.",
      { link: Redacted.value(facts.link) },
      `The link ends on ${moment(facts.expiresAt)}.`,
      "If you did not ask for it, ignore this mail: your password stays as it is."
    ]
  })
})

export const passwordReplaced = mailKind("password_replaced", {
  when: "An admin's password is replaced, by the admin or by somebody with a link.",
  to: "admin",
  admin,
  write: (facts: { readonly adminId: string; readonly at: Date; readonly ip: string | null }) => ({
    subject: "Your password was changed",
    paragraphs: [
      "Your password for the security console was changed.",
      { values: [["When", moment(facts.at)], ["From the address", facts.ip ?? "unknown"]] },
      "What the old password gave has ended: API keys, and sessions in other browsers.",
      "If this was not you, choose another password at once and tell your organization's owner or a superadmin."
    ]
  })
})

/** The place where something of one's own sign-in was done. */
interface ChangePlace {
  readonly adminId: string
  readonly at: Date
  readonly browser: string
  readonly ip: string | null
}

const where = ({ at, browser, ip }: ChangePlace) => ({
  values: [["When", moment(at)], ["Browser", quoted(browser)], ["Address", ip ?? "unknown"]] as const
})

const ownSignIn =
  "If this was not you, somebody else can get into your console: change your password at once, end your sessions there, and tell another superadmin or the support."

export const secondFactorAdded = mailKind("second_factor_added", {
  when: "An admin gets a second factor: an authenticator app, or a passkey.",
  to: "admin",
  admin,
  write: (facts: ChangePlace & { readonly factor: string }) => ({
    subject: "A second factor was added to your sign-in",
    paragraphs: [
      `You can sign in to the security console with a new second factor: ${facts.factor}.`,
      where(facts),
      ownSignIn
    ]
  })
})

export const secondFactorRemoved = mailKind("second_factor_removed", {
  when: "A second factor of an admin is removed.",
  to: "admin",
  admin,
  write: (facts: ChangePlace & { readonly factor: string }) => ({
    subject: "A second factor was removed from your sign-in",
    paragraphs: [`This no longer signs you in to the security console: ${facts.factor}.`, where(facts), ownSignIn]
  })
})

export const recoveryCodesRenewed = mailKind("recovery_codes_renewed", {
  when: "An admin makes new recovery codes.",
  to: "admin",
  admin,
  write: (facts: ChangePlace) => ({
    subject: "You have new recovery codes",
    paragraphs: ["New recovery codes were made for your sign-in; those before have stopped.", where(facts), ownSignIn]
  })
})

export const recoveryCodeUsed = mailKind("recovery_code_used", {
  when: "A recovery code is used in place of a second factor.",
  to: "admin",
  admin,
  write: (facts: ChangePlace & { readonly left: number }) => ({
    subject: "A recovery code was used",
    paragraphs: [
      `One of your recovery codes was used at the security console. ${facts.left} are left.`,
      where(facts),
      ownSignIn
    ]
  })
})

export const secondFactorFailed = mailKind("second_factor_failed", {
  when: "A sign-in ends after five wrong second factors: the person who tries has given the first factor.",
  to: "admin",
  admin,
  write: (facts: ChangePlace) => ({
    subject: "Somebody has your password, but not your second factor",
    paragraphs: [
      "A sign-in to the security console in your name was right with the password, or whatever you sign in with first, and wrong five times with the second factor.",
      where(facts),
      "If this was not you, change your password at once, and tell another superadmin or the support."
    ]
  })
})

export const secondFactorReset = mailKind("second_factor_reset", {
  when: "The operator takes an admin's second factors away, because they are lost.",
  to: "admin",
  admin,
  write: (_: { readonly adminId: string }) => ({
    subject: "Your second factors were reset",
    paragraphs: [
      "Whoever operates the security console has taken away your second factors and recovery codes, and has ended your console sessions. Your password is unchanged.",
      "Sign in and set up a second factor again.",
      unexpected
    ]
  })
})

export const ownershipTransferred = mailKind("ownership_transferred", {
  when: "The organization gets another owner: one mail to each of the two.",
  to: "admin",
  admin,
  write: (facts: { readonly adminId: string; readonly from: string; readonly to: string }) => ({
    subject: "The organization has a new owner",
    paragraphs: [
      "The ownership of the organization was transferred.",
      { values: [["Owner before", quoted(facts.from)], ["Owner now", quoted(facts.to)]] },
      unexpected
    ]
  })
})

export const retentionSet = mailKind("retention_set", {
  when: "A retention of the archive is set or shortened, 7 days before it begins to delete.",
  to: "owner",
  choice: "security",
  write: (facts: { readonly by: string; readonly kept: string; readonly begins: string }) => ({
    subject: `Old archived messages are deleted from ${facts.begins} on`,
    paragraphs: [
      "A retention was set for your organization's archive. What was sent longer ago is deleted from then on, once a week, unless a hold keeps it.",
      { values: [["Kept", facts.kept], ["Begins", facts.begins], ["By", quoted(facts.by)]] },
      "Until then it can be changed in the console, under Archive cleanups, and nothing is deleted by it.",
      unexpected
    ]
  })
})

export const retentionDue = mailKind("retention_due", {
  when: "A run of the archive's retention has counted what it deletes, 7 days before that begins.",
  to: "owner",
  choice: "security",
  write: (
    facts: {
      readonly kept: string
      readonly from: string
      readonly accounts: number
      readonly messages: number
      readonly files: number
    }
  ) => ({
    subject: `Archived messages are deleted from ${facts.from} on`,
    paragraphs: [
      "Your organization's archive has messages that will be older than its retention allows. They are deleted with their files, unless a hold keeps them.",
      {
        values: [
          ["Begins", facts.from],
          ["Messages", String(facts.messages)],
          ["Files", String(facts.files)],
          ["Accounts", String(facts.accounts)],
          ["Kept", facts.kept]
        ]
      },
      "Until then the cleanups can be cancelled in the console, under Archive cleanups, and so they are when the retention is changed."
    ]
  })
})

export const superadminInvited = mailKind("superadmin_invited", {
  when: "A superadmin is invited, or an admin becomes one.",
  to: "owner",
  choice: "security",
  write: (facts: { readonly email: string; readonly by: string }) => ({
    subject: `Superadmin invited: ${quoted(facts.email)}`,
    paragraphs: [
      "Somebody was given the role superadmin in your organization.",
      { values: [["Superadmin", quoted(facts.email)], ["By", quoted(facts.by)]] },
      unexpected
    ]
  })
})

export const superadminJoined = mailKind("superadmin_joined", {
  when: "An invited superadmin signs in for the first time.",
  to: "owner",
  choice: "security",
  write: (facts: { readonly email: string }) => ({
    subject: `Superadmin joined: ${quoted(facts.email)}`,
    paragraphs: [`The superadmin ${quoted(facts.email)} has joined your organization.`, unexpected]
  })
})

const silenced = (change: string) => ({
  subject: "You no longer hear of takeovers",
  paragraphs: [
    `You no longer get mails about new sign-ins and takeovers of your organization's accounts. ${change}`,
    unexpected
  ]
})

export const alertsTurnedOff = mailKind("alerts_turned_off", {
  when: "A person who gets the organization's security mails turns them off.",
  to: "admin",
  admin,
  write: (_: { readonly adminId: string }) => silenced("They were turned off in your mail preferences.")
})

export const alertsRoleLost = mailKind("alerts_role_lost", {
  when: "A person who gets the organization's security mails loses the role that they go to.",
  to: "admin",
  admin,
  write: (_: { readonly adminId: string }) => silenced("Your role has changed.")
})

export const recipientsNarrowed = mailKind("recipients_narrowed", {
  when: "Notifications go to the owner alone from now on.",
  to: "superadmins",
  choice: "security",
  write: (facts: { readonly by: string }) => silenced(`${quoted(facts.by)} has chosen that they go to the owner alone.`)
})

export const identityLinked = mailKind("identity_linked", {
  when: "An admin is linked to a person at the organization's identity provider.",
  to: "admin",
  admin,
  write: (facts: { readonly adminId: string; readonly issuer: string; readonly by: string }) => ({
    subject: "You can sign in by your identity provider",
    paragraphs: [
      "Whoever signs in there as the person that was linked signs in as you at the security console.",
      { values: [["Provider", quoted(facts.issuer)], ["Linked by", quoted(facts.by)]] },
      unexpected
    ]
  })
})

export const identityUnlinked = mailKind("identity_unlinked", {
  when: "The link of an admin to the organization's identity provider is removed.",
  to: "admin",
  admin,
  write: (facts: { readonly adminId: string; readonly issuer: string; readonly by: string }) => ({
    subject: "You no longer sign in by your identity provider",
    paragraphs: [
      "Nobody at the provider can sign in as you at the security console any more.",
      { values: [["Provider", quoted(facts.issuer)], ["Removed by", quoted(facts.by)]] },
      unexpected
    ]
  })
})

export const apiKeyExpires = mailKind("api_key_expires", {
  when: "An API key ends within 7 days.",
  to: "admin",
  admin,
  write: (facts: { readonly adminId: string; readonly label: string; readonly expiresAt: Date }) => ({
    subject: `Your API key ${quoted(facts.label)} ends soon`,
    paragraphs: [
      `Your API key ${quoted(facts.label)} ends on ${moment(facts.expiresAt)}.`,
      "Make a new one before, and use it where the old one is used."
    ]
  })
})

export const supportRequested = mailKind("support_request", {
  when: "An admin asks the support for help.",
  to: "support",
  write: (facts: {
    readonly organizationId: string
    readonly number: number
    readonly category: string
    readonly subject: string
    readonly message: string
    readonly email: string
    readonly accountId: string | null
    readonly relatedRequestId: string | null
  }) => ({
    subject: `[${facts.organizationId} #${facts.number}] ${quoted(facts.subject)}`,
    paragraphs: [
      {
        values: [
          ["Organization", facts.organizationId],
          ["Request", `${facts.number}`],
          ["Category", facts.category],
          ["From", quoted(facts.email)],
          ["Account", facts.accountId ?? "none"],
          ["Request-Id", facts.relatedRequestId === null ? "none" : quoted(facts.relatedRequestId)]
        ]
      },
      facts.message
    ]
  })
})

export const supportAnswered = mailKind("support_answer", {
  when: "The support answers a request.",
  to: "admin",
  admin,
  write: (facts: {
    readonly adminId: string
    readonly number: number
    readonly subject: string
    readonly answer: string
  }) => ({
    subject: `Answer to your request ${facts.number}: ${quoted(facts.subject)}`,
    paragraphs: [`The support has answered your request ${facts.number}.`, facts.answer]
  })
})
