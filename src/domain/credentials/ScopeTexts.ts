/** The names of the scopes, and what they let a credential do, for people. */
import type { Scope } from "../people/Access.ts"

/** By scope, for the document and the pages alike. */
export const scopeTexts: Readonly<Record<Scope, { readonly name: string; readonly allows: string }>> = {
  "archive:read": {
    name: "Read archived chats",
    allows: "Read archived chats, members, messages and files, search in them, and read the archive's rules."
  },
  "org:read": {
    name: "See the organization",
    allows:
      "Read the organization, its accounts and their sessions, departments, admins, settings, credentials, connections and the journal."
  },
  "accounts:write": {
    name: "Change accounts",
    allows:
      "Connect accounts and sign in to them again, approve sessions, pause and resume protection, edit profiles, departments, labels and rules, file support requests, choose who gets which emails."
  },
  "security:write": {
    name: "Change account security",
    allows:
      "Sign sessions out, offboard accounts, manage 2FA passwords, recovery and login emails, passkeys, locks and second sessions."
  },
  "admins:write": {
    name: "Manage admins and credentials",
    allows:
      "Invite and remove admins, change what they may do, hand over the ownership, manage departments, make and revoke API keys, revoke AI connections."
  },
  "archive:delete": {
    name: "Delete archived data",
    allows: "Clean up stored chats or delete whole archives. Deleted data cannot be brought back."
  }
}
