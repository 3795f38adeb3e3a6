/** The operations as the specification has them: a line each, which no declaration is asked for. */
import { everyone, protectors, type Role, superadmins } from "../../src/domain/people/Access.ts"

/** The table of section 4, and of section 10.6. */
export const table = [
  ["get_organization", "GET", "/v1/organization", "org:read", "yes", "everyone"],
  ["list_ai_connections", "GET", "/v1/ai-connections", "org:read", "yes", "everyone"],
  ["get_mail_preferences", "GET", "/v1/me/mail-preferences", "org:read", "yes", "everyone"],
  ["set_mail_preferences", "PUT", "/v1/me/mail-preferences", "accounts:write", "no", "everyone"],
  ["get_notification_recipients", "GET", "/v1/settings/notifications", "org:read", "yes", "everyone"],
  ["set_notification_recipients", "PUT", "/v1/settings/notifications", "accounts:write", "no", "superadmins"],
  ["list_protected_accounts", "GET", "/v1/accounts", "org:read", "yes", "everyone"],
  ["get_account", "GET", "/v1/accounts/{account_id}", "org:read", "yes", "everyone"],
  [
    "get_account_messenger_profile",
    "GET",
    "/v1/accounts/{account_id}/messenger-profile",
    "org:read",
    "yes",
    "protectors"
  ],
  [
    "update_messenger_profile",
    "PATCH",
    "/v1/accounts/{account_id}/messenger-profile",
    "accounts:write",
    "no",
    "protectors"
  ],
  ["pause_protection", "POST", "/v1/accounts/{account_id}/pause", "accounts:write", "no", "protectors"],
  ["resume_protection", "POST", "/v1/accounts/{account_id}/resume", "accounts:write", "no", "protectors"],
  ["set_account_role_label", "PUT", "/v1/accounts/{account_id}/role-label", "accounts:write", "no", "protectors"],
  [
    "set_messenger_username",
    "PUT",
    "/v1/accounts/{account_id}/messenger-profile/username",
    "accounts:write",
    "no",
    "protectors"
  ],
  ["create_api_key", "POST", "/v1/api-keys", "admins:write", "no", "everyone"],
  ["revoke_api_key", "DELETE", "/v1/api-keys/{api_key_id}", "admins:write", "no", "everyone"],
  ["revoke_ai_connection", "DELETE", "/v1/ai-connections/{connection_id}", "admins:write", "no", "everyone"],
  ["list_journal_events", "GET", "/v1/journal", "org:read", "yes", "everyone"],
  ["get_journal_event", "GET", "/v1/journal/{event_id}", "org:read", "yes", "everyone"],
  ["tail_journal_events", "GET", "/v1/journal/tail", "org:read", "yes", "superadmins"],
  ["find_accounts", "GET", "/v1/account-search", "org:read", "yes", "everyone"],
  ["list_departments", "GET", "/v1/departments", "org:read", "yes", "everyone"],
  ["create_department", "POST", "/v1/departments", "admins:write", "no", "superadmins"],
  ["rename_department", "PATCH", "/v1/departments/{department_id}", "admins:write", "no", "superadmins"],
  ["delete_department", "DELETE", "/v1/departments/{department_id}", "admins:write", "no", "superadmins"],
  ["set_account_department", "PUT", "/v1/accounts/{account_id}/department", "accounts:write", "no", "protectors"],
  ["list_admins", "GET", "/v1/admins", "org:read", "yes", "everyone"],
  ["get_admin", "GET", "/v1/admins/{admin_id}", "org:read", "yes", "everyone"],
  ["invite_admin", "POST", "/v1/admins", "admins:write", "no", "superadmins"],
  [
    "resend_admin_invitation",
    "POST",
    "/v1/admins/{admin_id}/resend-invitation",
    "admins:write",
    "no",
    "superadmins"
  ],
  ["set_admin_role", "PUT", "/v1/admins/{admin_id}/role", "admins:write", "no", "superadmins"],
  ["set_admin_access", "PUT", "/v1/admins/{admin_id}/access", "admins:write", "no", "superadmins"],
  ["disable_admin", "POST", "/v1/admins/{admin_id}/disable", "admins:write", "no", "superadmins"],
  ["enable_admin", "POST", "/v1/admins/{admin_id}/enable", "admins:write", "no", "superadmins"],
  ["remove_admin", "DELETE", "/v1/admins/{admin_id}", "admins:write", "no", "superadmins"],
  ["transfer_ownership", "POST", "/v1/organization/ownership", "admins:write", "no", "owners"],
  ["get_subscription", "GET", "/v1/subscription", "org:read", "yes", "everyone"],
  ["get_billing_links", "GET", "/v1/billing-links", "org:read", "yes", "payers"],
  ["list_support_requests", "GET", "/v1/support-requests", "org:read", "yes", "everyone"],
  ["create_support_request", "POST", "/v1/support-requests", "accounts:write", "no", "everyone"],
  ["get_support_request", "GET", "/v1/support-requests/{request_id}", "org:read", "yes", "everyone"],
  ["get_status", "GET", "/v1/status", "org:read", "yes", "everyone"],
  ["list_sessions", "GET", "/v1/sessions", "org:read", "yes", "protectors"],
  [
    "approve_session",
    "POST",
    "/v1/accounts/{account_id}/sessions/{session_id}/approve",
    "accounts:write",
    "no",
    "protectors"
  ],
  [
    "sign_out_session",
    "POST",
    "/v1/accounts/{account_id}/sessions/{session_id}/sign-out",
    "security:write",
    "no",
    "protectors"
  ],
  [
    "sign_out_other_sessions",
    "POST",
    "/v1/accounts/{account_id}/sessions/sign-out-others",
    "security:write",
    "no",
    "protectors"
  ],
  ["set_takeover_lockdown", "PUT", "/v1/settings/takeover-lockdown", "security:write", "no", "superadmins"],
  [
    "release_takeover_lock",
    "POST",
    "/v1/accounts/{account_id}/takeover-lock/release",
    "security:write",
    "no",
    "protectors"
  ],
  ["set_security_lock", "PUT", "/v1/accounts/{account_id}/security-lock", "security:write", "no", "protectors"],
  ["start_account_connect", "POST", "/v1/logins", "accounts:write", "no", "protectors"],
  ["start_account_relogin", "POST", "/v1/accounts/{account_id}/relogin", "accounts:write", "no", "protectors"],
  ["get_login", "GET", "/v1/logins/{login_id}", "org:read", "yes", "protectors"],
  ["submit_login_code", "POST", "/v1/logins/{login_id}/code", "accounts:write", "no", "protectors"],
  ["submit_login_password", "POST", "/v1/logins/{login_id}/password", "accounts:write", "no", "protectors"],
  ["resend_login_code", "POST", "/v1/logins/{login_id}/resend", "accounts:write", "no", "protectors"],
  ["cancel_login", "POST", "/v1/logins/{login_id}/cancel", "accounts:write", "no", "protectors"],
  ["set_two_fa_password", "PUT", "/v1/accounts/{account_id}/two-fa", "security:write", "no", "protectors"],
  ["set_recovery_email", "POST", "/v1/accounts/{account_id}/recovery-email", "security:write", "no", "protectors"],
  [
    "confirm_recovery_email",
    "POST",
    "/v1/accounts/{account_id}/recovery-email/confirm",
    "security:write",
    "no",
    "protectors"
  ],
  ["remove_recovery_email", "DELETE", "/v1/accounts/{account_id}/recovery-email", "security:write", "no", "protectors"],
  ["set_login_email", "POST", "/v1/accounts/{account_id}/login-email", "security:write", "no", "protectors"],
  [
    "confirm_login_email",
    "POST",
    "/v1/accounts/{account_id}/login-email/confirm",
    "security:write",
    "no",
    "protectors"
  ],
  ["add_passkey", "PUT", "/v1/accounts/{account_id}/passkey", "security:write", "no", "protectors"],
  ["remove_passkey", "DELETE", "/v1/accounts/{account_id}/passkey", "security:write", "no", "protectors"],
  ["remove_two_fa_password", "DELETE", "/v1/accounts/{account_id}/two-fa", "security:write", "no", "protectors"],
  ["create_paired_session", "PUT", "/v1/accounts/{account_id}/paired-session", "security:write", "no", "protectors"],
  ["remove_paired_session", "DELETE", "/v1/accounts/{account_id}/paired-session", "security:write", "no", "protectors"],
  ["offboard_account", "POST", "/v1/accounts/{account_id}/offboard", "security:write", "no", "protectors"],
  ["list_accounts", "GET", "/v1/archive/accounts", "archive:read", "yes", "readers"],
  ["list_chats", "GET", "/v1/archive/accounts/{account_id}/chats", "archive:read", "yes", "readers"],
  ["get_chat", "GET", "/v1/archive/accounts/{account_id}/chats/{chat_id}", "archive:read", "yes", "readers"],
  [
    "list_messages",
    "GET",
    "/v1/archive/accounts/{account_id}/chats/{chat_id}/messages",
    "archive:read",
    "yes",
    "readers"
  ],
  [
    "get_message",
    "GET",
    "/v1/archive/accounts/{account_id}/chats/{chat_id}/messages/{message_id}",
    "archive:read",
    "yes",
    "readers"
  ],
  ["search_messages", "POST", "/v1/archive/search", "archive:read", "yes", "readers"],
  [
    "list_chat_members",
    "GET",
    "/v1/archive/accounts/{account_id}/chats/{chat_id}/members",
    "archive:read",
    "yes",
    "readers"
  ],
  [
    "list_message_edits",
    "GET",
    "/v1/archive/accounts/{account_id}/chats/{chat_id}/messages/{message_id}/edits",
    "archive:read",
    "yes",
    "readers"
  ],
  ["list_files", "GET", "/v1/archive/accounts/{account_id}/files", "archive:read", "yes", "readers"],
  ["get_file", "GET", "/v1/archive/files/{file_id}", "archive:read", "yes", "readers"],
  ["download_file", "GET", "/v1/archive/files/{file_id}/content", "archive:read", "yes", "readers"],
  ["get_archive_keys", "GET", "/v1/archive/keys", "archive:read", "yes", "readers"],
  [
    "list_sealed_pages",
    "POST",
    "/v1/archive/sealed/accounts/{account_id}/pages",
    "archive:read",
    "yes",
    "readers"
  ],
  ["list_sealed_blocks", "POST", "/v1/archive/sealed/blocks", "archive:read", "yes", "readers"],
  ["list_sealed_files", "POST", "/v1/archive/sealed/files", "archive:read", "yes", "readers"],
  ["download_sealed_file", "GET", "/v1/archive/sealed/files/{file_id}", "archive:read", "yes", "readers"],
  ["list_archive_rules", "GET", "/v1/archive/rules", "archive:read", "yes", "readers"],
  ["preview_archive_rule", "POST", "/v1/archive/rule-preview", "archive:read", "yes", "readers"],
  ["create_archive_rule", "POST", "/v1/archive/rules", "accounts:write", "no", "readers"],
  ["update_archive_rule", "PATCH", "/v1/archive/rules/{rule_id}", "accounts:write", "no", "readers"],
  ["delete_archive_rule", "DELETE", "/v1/archive/rules/{rule_id}", "accounts:write", "no", "readers"],
  ["start_backup", "POST", "/v1/accounts/{account_id}/archive/backup", "accounts:write", "no", "readers"],
  ["preview_archive_cleanup", "POST", "/v1/archive/cleanups", "archive:delete", "no", "superadmins"],
  ["list_archive_cleanups", "GET", "/v1/archive/cleanups", "archive:read", "yes", "readers"],
  ["get_archive_cleanup", "GET", "/v1/archive/cleanups/{cleanup_id}", "archive:read", "yes", "readers"],
  [
    "confirm_archive_cleanup",
    "POST",
    "/v1/archive/cleanups/{cleanup_id}/confirm",
    "archive:delete",
    "no",
    "superadmins"
  ],
  ["cancel_archive_cleanup", "POST", "/v1/archive/cleanups/{cleanup_id}/cancel", "archive:delete", "no", "superadmins"],
  ["place_archive_hold", "POST", "/v1/archive/holds", "accounts:write", "no", "superadmins"],
  ["list_archive_holds", "GET", "/v1/archive/holds", "archive:read", "yes", "readers"],
  ["release_archive_hold", "POST", "/v1/archive/holds/{hold_id}/release", "archive:delete", "no", "owners"],
  ["create_archive_export", "POST", "/v1/archive/exports", "archive:read", "no", "readers"],
  ["list_archive_exports", "GET", "/v1/archive/exports", "archive:read", "yes", "readers"],
  ["get_archive_export", "GET", "/v1/archive/exports/{export_id}", "archive:read", "yes", "readers"],
  [
    "download_archive_export_part",
    "GET",
    "/v1/archive/exports/{export_id}/parts/{number}",
    "archive:read",
    "yes",
    "readers"
  ],
  ["get_archive_retention", "GET", "/v1/archive/retention", "archive:read", "yes", "readers"],
  ["set_archive_retention", "PUT", "/v1/archive/retention", "archive:delete", "no", "superadmins"],
  [
    "redact_messages",
    "POST",
    "/v1/archive/accounts/{account_id}/chats/{chat_id}/redactions",
    "archive:delete",
    "no",
    "superadmins"
  ],
  ["verify_archive", "POST", "/v1/archive/verify", "archive:read", "yes", "superadmins"],
  [
    "delete_account_with_archive",
    "POST",
    "/v1/accounts/{account_id}/delete",
    "archive:delete",
    "no",
    "superadmins"
  ],
  ["delete_whole_archive", "POST", "/v1/archive/delete", "archive:delete", "no", "owners"]
] as const

/** The operations that the tests add. */
const added = [
  ["retire_label", "POST", "/v1/accounts/{account_id}/retire-label", "accounts:write", "no", "superadmins"]
] as const

/** A line for each operation that the tests serve. */
export const lines = [...table, ...added]

/** The fourteen operations of section 4. */
export const contract: ReadonlyArray<string> = table.slice(0, 14).map(([id]) => id)

const owners: ReadonlyArray<Role> = ["owner"]
const payers: ReadonlyArray<Role> = ["owner", "superadmin", "billing"]
const readers: ReadonlyArray<Role> = ["owner", "superadmin", "admin", "archive"]
const roles = { everyone, readers, owners, payers, protectors, superadmins }

/** What the operation answers to the role by the specification: `ok`, or the code of its refusal. */
export const allowed = (
  operation: string,
  role: Role
): "ok" | "owner_required" | "role_forbidden" | "superadmin_required" => {
  const who = lines.find(([id]) => id === operation)?.[5]
  if (who === undefined) throw new Error(`The table lacks ${operation}`)
  if (roles[who].includes(role)) return "ok"
  return who === "owners" ? "owner_required" : who === "superadmins" ? "superadmin_required" : "role_forbidden"
}
