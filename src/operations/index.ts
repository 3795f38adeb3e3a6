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
import { disableAdmin } from "./admins/disable_admin.ts"
import { enableAdmin } from "./admins/enable_admin.ts"
import { getAdmin } from "./admins/get_admin.ts"
import { inviteAdmin } from "./admins/invite_admin.ts"
import { listAdmins } from "./admins/list_admins.ts"
import { removeAdmin } from "./admins/remove_admin.ts"
import { resendAdminInvitation } from "./admins/resend_admin_invitation.ts"
import { setAdminAccess } from "./admins/set_admin_access.ts"
import { setAdminRole } from "./admins/set_admin_role.ts"
import { transferOwnership } from "./admins/transfer_ownership.ts"
import { getBillingLinks } from "./billing/get_billing_links.ts"
import { getSubscription } from "./billing/get_subscription.ts"
import { createApiKey } from "./credentials/create_api_key.ts"
import { listAiConnections } from "./credentials/list_ai_connections.ts"
import { revokeAiConnection } from "./credentials/revoke_ai_connection.ts"
import { revokeApiKey } from "./credentials/revoke_api_key.ts"
import { createDepartment } from "./departments/create_department.ts"
import { deleteDepartment } from "./departments/delete_department.ts"
import { listDepartments } from "./departments/list_departments.ts"
import { renameDepartment } from "./departments/rename_department.ts"
import { setAccountDepartment } from "./departments/set_account_department.ts"
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
import { getMailPreferences } from "./me/get_mail_preferences.ts"
import { setMailPreferences } from "./me/set_mail_preferences.ts"
import { getOrganization } from "./organization/get_organization.ts"
import { getStatus } from "./organization/get_status.ts"
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
import { getNotificationRecipients } from "./settings/get_notification_recipients.ts"
import { setNotificationRecipients } from "./settings/set_notification_recipients.ts"
import { createSupportRequest } from "./support/create_support_request.ts"
import { getSupportRequest } from "./support/get_support_request.ts"
import { listSupportRequests } from "./support/list_support_requests.ts"

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
  offboardAccount
] as const

export type Operations = typeof operations

/** The operations that HTTP and MCP serve and document; all of them by default. */
export const ServedOperations = Context.Reference<Operation.List>("org-security-console/operations/ServedOperations", {
  defaultValue: () => operations
})

/** The operations by their id. */
export const api = Operation.byId(operations)
