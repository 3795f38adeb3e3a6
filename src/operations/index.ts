/** Every operation of the service, in the specification's order. */
import { Context } from "effect"
import * as Operation from "../kernel/Operation.ts"
import { findAccounts } from "./accounts/find_accounts.ts"
import { getAccount } from "./accounts/get_account.ts"
import { getAccountMessengerProfile } from "./accounts/get_account_messenger_profile.ts"
import { listProtectedAccounts } from "./accounts/list_protected_accounts.ts"
import { pauseProtection } from "./accounts/pause_protection.ts"
import { resumeProtection } from "./accounts/resume_protection.ts"
import { setAccountRoleLabel } from "./accounts/set_account_role_label.ts"
import { setMessengerUsername } from "./accounts/set_messenger_username.ts"
import { updateMessengerProfile } from "./accounts/update_messenger_profile.ts"
import { cancelArchiveCleanup } from "./archive/cancel_archive_cleanup.ts"
import { confirmArchiveCleanup } from "./archive/confirm_archive_cleanup.ts"
import { createArchiveExport } from "./archive/create_archive_export.ts"
import { createArchiveRule } from "./archive/create_archive_rule.ts"
import { deleteAccountWithArchive } from "./archive/delete_account_with_archive.ts"
import { deleteArchiveRule } from "./archive/delete_archive_rule.ts"
import { deleteWholeArchive } from "./archive/delete_whole_archive.ts"
import { downloadArchiveExportPart } from "./archive/download_archive_export_part.ts"
import { downloadFile } from "./archive/download_file.ts"
import { downloadSealedFile } from "./archive/download_sealed_file.ts"
import { getArchiveCleanup } from "./archive/get_archive_cleanup.ts"
import { getArchiveExport } from "./archive/get_archive_export.ts"
import { getArchiveKeys } from "./archive/get_archive_keys.ts"
import { getArchiveRetention } from "./archive/get_archive_retention.ts"
import { getChat } from "./archive/get_chat.ts"
import { getFile } from "./archive/get_file.ts"
import { getMessage } from "./archive/get_message.ts"
import { listAccounts } from "./archive/list_accounts.ts"
import { listArchiveCleanups } from "./archive/list_archive_cleanups.ts"
import { listArchiveExports } from "./archive/list_archive_exports.ts"
import { listArchiveHolds } from "./archive/list_archive_holds.ts"
import { listArchiveRules } from "./archive/list_archive_rules.ts"
import { listChatMembers } from "./archive/list_chat_members.ts"
import { listChats } from "./archive/list_chats.ts"
import { listFiles } from "./archive/list_files.ts"
import { listMessageEdits } from "./archive/list_message_edits.ts"
import { listMessages } from "./archive/list_messages.ts"
import { listSealedBlocks } from "./archive/list_sealed_blocks.ts"
import { listSealedFiles } from "./archive/list_sealed_files.ts"
import { listSealedPages } from "./archive/list_sealed_pages.ts"
import { placeArchiveHold } from "./archive/place_archive_hold.ts"
import { previewArchiveCleanup } from "./archive/preview_archive_cleanup.ts"
import { previewArchiveRule } from "./archive/preview_archive_rule.ts"
import { redactMessages } from "./archive/redact_messages.ts"
import { releaseArchiveHold } from "./archive/release_archive_hold.ts"
import { searchMessages } from "./archive/search_messages.ts"
import { setArchiveRetention } from "./archive/set_archive_retention.ts"
import { startBackup } from "./archive/start_backup.ts"
import { updateArchiveRule } from "./archive/update_archive_rule.ts"
import { verifyArchive } from "./archive/verify_archive.ts"
import { createApiKey } from "./credentials/create_api_key.ts"
import { listAiConnections } from "./credentials/list_ai_connections.ts"
import { revokeAiConnection } from "./credentials/revoke_ai_connection.ts"
import { revokeApiKey } from "./credentials/revoke_api_key.ts"
import { getJournalEvent } from "./journal/get_journal_event.ts"
import { listJournalEvents } from "./journal/list_journal_events.ts"
import { tailJournalEvents } from "./journal/tail_journal_events.ts"
import { cancelLogin } from "./logins/cancel_login.ts"
import { getLogin } from "./logins/get_login.ts"
import { resendLoginCode } from "./logins/resend_login_code.ts"
import { startAccountConnect } from "./logins/start_account_connect.ts"
import { startAccountRelogin } from "./logins/start_account_relogin.ts"
import { submitLoginCode } from "./logins/submit_login_code.ts"
import { submitLoginPassword } from "./logins/submit_login_password.ts"
import { createSupportRequest } from "./organization/create_support_request.ts"
import { getBillingLinks } from "./organization/get_billing_links.ts"
import { getNotificationRecipients } from "./organization/get_notification_recipients.ts"
import { getOrganization } from "./organization/get_organization.ts"
import { getStatus } from "./organization/get_status.ts"
import { getSubscription } from "./organization/get_subscription.ts"
import { getSupportRequest } from "./organization/get_support_request.ts"
import { listSupportRequests } from "./organization/list_support_requests.ts"
import { setNotificationRecipients } from "./organization/set_notification_recipients.ts"
import { createDepartment } from "./people/create_department.ts"
import { deleteDepartment } from "./people/delete_department.ts"
import { disableAdmin } from "./people/disable_admin.ts"
import { enableAdmin } from "./people/enable_admin.ts"
import { getAdmin } from "./people/get_admin.ts"
import { getMailPreferences } from "./people/get_mail_preferences.ts"
import { inviteAdmin } from "./people/invite_admin.ts"
import { listAdmins } from "./people/list_admins.ts"
import { listDepartments } from "./people/list_departments.ts"
import { removeAdmin } from "./people/remove_admin.ts"
import { renameDepartment } from "./people/rename_department.ts"
import { resendAdminInvitation } from "./people/resend_admin_invitation.ts"
import { setAccountDepartment } from "./people/set_account_department.ts"
import { setAdminAccess } from "./people/set_admin_access.ts"
import { setAdminRole } from "./people/set_admin_role.ts"
import { setMailPreferences } from "./people/set_mail_preferences.ts"
import { transferOwnership } from "./people/transfer_ownership.ts"
import { addPasskey } from "./security/add_passkey.ts"
import { confirmLoginEmail } from "./security/confirm_login_email.ts"
import { confirmRecoveryEmail } from "./security/confirm_recovery_email.ts"
import { createPairedSession } from "./security/create_paired_session.ts"
import { offboardAccount } from "./security/offboard_account.ts"
import { releaseTakeoverLock } from "./security/release_takeover_lock.ts"
import { removePairedSession } from "./security/remove_paired_session.ts"
import { removePasskey } from "./security/remove_passkey.ts"
import { removeRecoveryEmail } from "./security/remove_recovery_email.ts"
import { removeTwoFaPassword } from "./security/remove_two_fa_password.ts"
import { setLoginEmail } from "./security/set_login_email.ts"
import { setRecoveryEmail } from "./security/set_recovery_email.ts"
import { setSecurityLock } from "./security/set_security_lock.ts"
import { setTakeoverLockdown } from "./security/set_takeover_lockdown.ts"
import { setTwoFaPassword } from "./security/set_two_fa_password.ts"
import { approveSession } from "./sessions/approve_session.ts"
import { listSessions } from "./sessions/list_sessions.ts"
import { signOutOtherSessions } from "./sessions/sign_out_other_sessions.ts"
import { signOutSession } from "./sessions/sign_out_session.ts"

export const operations = [
  getOrganization,
  listAiConnections,
  getMailPreferences,
  setMailPreferences,
  getNotificationRecipients,
  setNotificationRecipients,
  listProtectedAccounts,
  getAccount,
  getAccountMessengerProfile,
  updateMessengerProfile,
  pauseProtection,
  resumeProtection,
  setAccountRoleLabel,
  setMessengerUsername,
  createApiKey,
  revokeApiKey,
  revokeAiConnection,
  listJournalEvents,
  getJournalEvent,
  tailJournalEvents,
  findAccounts,
  listDepartments,
  createDepartment,
  renameDepartment,
  deleteDepartment,
  setAccountDepartment,
  listAdmins,
  getAdmin,
  inviteAdmin,
  resendAdminInvitation,
  setAdminRole,
  setAdminAccess,
  disableAdmin,
  enableAdmin,
  removeAdmin,
  transferOwnership,
  getSubscription,
  getBillingLinks,
  listSupportRequests,
  createSupportRequest,
  getSupportRequest,
  getStatus,
  listSessions,
  approveSession,
  signOutSession,
  signOutOtherSessions,
  setTakeoverLockdown,
  releaseTakeoverLock,
  setSecurityLock,
  startAccountConnect,
  startAccountRelogin,
  getLogin,
  submitLoginCode,
  submitLoginPassword,
  resendLoginCode,
  cancelLogin,
  setTwoFaPassword,
  setRecoveryEmail,
  confirmRecoveryEmail,
  removeRecoveryEmail,
  setLoginEmail,
  confirmLoginEmail,
  addPasskey,
  removePasskey,
  removeTwoFaPassword,
  createPairedSession,
  removePairedSession,
  offboardAccount,
  listAccounts,
  listChats,
  getChat,
  listMessages,
  getMessage,
  searchMessages,
  listChatMembers,
  listMessageEdits,
  listFiles,
  getFile,
  downloadFile,
  getArchiveKeys,
  listSealedPages,
  listSealedBlocks,
  listSealedFiles,
  downloadSealedFile,
  listArchiveRules,
  previewArchiveRule,
  createArchiveRule,
  updateArchiveRule,
  deleteArchiveRule,
  startBackup,
  previewArchiveCleanup,
  listArchiveCleanups,
  getArchiveCleanup,
  confirmArchiveCleanup,
  cancelArchiveCleanup,
  placeArchiveHold,
  listArchiveHolds,
  releaseArchiveHold,
  createArchiveExport,
  listArchiveExports,
  getArchiveExport,
  downloadArchiveExportPart,
  getArchiveRetention,
  setArchiveRetention,
  redactMessages,
  verifyArchive,
  deleteAccountWithArchive,
  deleteWholeArchive
] as const

export type Operations = typeof operations

/** The operations that HTTP and MCP serve and document; all of them by default. */
export const ServedOperations = Context.Reference<Operation.List>(
  "org-security-console/operations/index/ServedOperations",
  {
    defaultValue: () => operations
  }
)

/** The operations by their id. */
export const api = Operation.byId(operations)
