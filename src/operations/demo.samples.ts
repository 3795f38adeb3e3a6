/**
 * The demo organization as the samples of several operations show it: one value for each thing, which a sample uses or
 * varies.
 */
import type { AccountStatus } from "../domain/accounts/ProtectionStatus.ts"

/** The ids of accounts. */
export const people = {
  amara: "019bc0e2-1280-7691-9060-dc11e65f72ea",
  bram: "019bc0e2-1280-717f-bf3b-1f94c07e9929",
  dagny: "019bc0e2-1280-717f-bf3b-1f9685ebb3d5",
  lin: "019bc0e2-1280-717f-bf3b-1f9f117ad436",
  /** One without a name. */
  numbered: "019bc0e2-1280-7691-9060-dc1c794fba00"
} as const

/** The answer to an action on an account, with the status where it says one. */
export const acted = (account_id: string, action: string, status?: AccountStatus) =>
  ({ object: "account_action", account_id, action, ...(status === undefined ? {} : { status }) }) as const

/** The licences of the plan. */
export const licences = {
  protect: 10,
  archive: 10,
  governance: 5
} as const

/** The seats. */
export const seats = {
  limit: 25,
  used: 12,
  reserved: 2,
  free: 11
} as const

/** The organization. */
export const organization = {
  object: "organization",
  id: "demo",
  name: "Demo Organization",
  status: "active",
  valid_until: null,
  protection_active: true,
  plan: {
    billing_state: "active",
    managed: true,
    plan: "governance",
    period: "annual",
    licences
  },
  seats,
  archive: {
    key_set: true,
    plan: true,
    readable: true,
    writable: true,
    phase: "active"
  },
  tamper_lockdown_enabled: true
} as const

/** An account without an archive, as a list shows it. */
export const account = {
  object: "account",
  id: "019bc0e2-1280-7691-9060-dc1c794fba00",
  name: "+31612340012",
  phone_number: "+31612340012",
  role_label: null,
  department_id: "019bc0e2-1280-7691-9060-dc077018650d",
  status: "protected",
  licence_tier: "protect",
  joined_at: "2025-12-16T09:00:00.000Z",
  offboarded_at: null,
  archive: {
    has_key: true,
    status: "disabled",
    messages: 0,
    media: 0,
    bytes: 0,
    last_backup_at: null,
    next_backup_at: null,
    updated_at: null,
    live_archive: false,
    error: null,
    phase: null,
    running: null,
    chats: {
      discovered: 0,
      selected: 0,
      with_data: 0,
      complete: 0,
      review: 0
    },
    saving: {
      state: "stopped",
      reason: "no_archive_plan",
      stopped_chats: 0,
      last_sync_at: null
    }
  }
} as const

/** An account with an archive. */
export const archivedAccount = {
  object: "account",
  id: "019bc0e2-1280-7691-9060-dc11e65f72ea",
  name: "Amara Okafor",
  phone_number: "+31612340001",
  role_label: "Chief executive",
  department_id: "019bc0e2-1280-7691-9060-dc0536cd9fd0",
  status: "protected",
  licence_tier: "governance",
  joined_at: "2025-12-16T09:00:00.000Z",
  offboarded_at: null,
  archive: {
    has_key: true,
    status: "idle",
    messages: 0,
    media: 0,
    bytes: 0,
    last_backup_at: "2026-01-15T04:00:00.000Z",
    next_backup_at: "2026-01-16T04:00:00.000Z",
    updated_at: "2026-01-15T08:48:00.000Z",
    live_archive: true,
    error: null,
    phase: null,
    running: null,
    chats: {
      discovered: 0,
      selected: 0,
      with_data: 0,
      complete: 0,
      review: 0
    },
    saving: {
      state: "saving",
      reason: null,
      stopped_chats: 0,
      last_sync_at: "2026-01-15T08:59:00.000Z"
    }
  }
} as const

/** The profile of the account on the messenger. */
export const profile = {
  object: "messenger_profile",
  first_name: null,
  last_name: null,
  username: null,
  about: null,
  phone: "31612340012",
  photo_id: null,
  login_email_pattern: null,
  recovery_email_pattern: null,
  two_fa_present: false,
  two_fa_managed: false,
  passkey_present: false,
  passkey_managed: false,
  passkey_eligible_at: null,
  bio_limit: 70,
  paired_session: {
    state: "none",
    since: null,
    error: null
  }
} as const

/** An admin who has joined. */
export const superadmin = {
  object: "admin",
  id: "019bc0e2-1280-7691-9060-dc08000010a4",
  email: "sam@demo.example",
  name: "Sam Superadmin",
  role: "superadmin",
  status: "active",
  access: {
    scope_type: "all",
    account_ids: [],
    department_ids: [],
    archive: true
  },
  mine: false,
  invitation_expires_at: null,
  joined_at: "2026-01-15T09:00:00.000Z",
  last_active_at: "2026-01-12T09:00:00.000Z",
  disabled_at: null,
  credentials: 0
} as const

/** An admin who is invited. */
export const invited = {
  object: "admin",
  id: "019bc0f0-4d00-7a11-8c42-6f3a90d1e7b5",
  email: "nora@demo.example",
  name: "Nora New",
  role: "admin",
  status: "invited",
  access: {
    scope_type: "granted",
    account_ids: [],
    department_ids: [
      "019bc0e2-1280-7691-9060-dc0536cd9fd0"
    ],
    archive: false
  },
  mine: false,
  invitation_expires_at: "2026-01-22T09:16:00.000Z",
  joined_at: null,
  last_active_at: null,
  disabled_at: null,
  credentials: 0
} as const

/** The first event of the journal. */
export const event = {
  object: "journal_event",
  id: "019bc0e2-1280-7691-9060-dc278a782e64",
  sequence: 1,
  at: "2024-12-11T09:00:00.000Z",
  action: "organization.created",
  outcome: "done",
  actor: {
    type: "operator",
    admin_id: null,
    name: null
  },
  credential: null,
  via: "cli",
  account_id: null,
  target: {
    type: "organization",
    id: "demo"
  },
  details: {},
  ip: null,
  request_id: null,
  closes: null,
  prev_hash: "25a7212a16af76b3d9af8d43e0638f7d22780c540c8cc1d0caa7287265f90d77",
  hash: "dada715ede994ec430aa5a12e112dbd7f870ae836ecf5f9ef8511e2eb5c8f7e6"
} as const

/** A connection that is revoked. */
export const connection = {
  object: "ai_connection",
  id: "019bc0e2-1280-7691-9060-dc247d8fe63a",
  kind: "oauth",
  label: "Totally official",
  client: {
    name: "Assistant A (verified ✅) <b>trust me</b>",
    host: "phish.example",
    known: null
  },
  mode: "cloud",
  scopes: [
    "org:read"
  ],
  scope_type: "departments",
  all_accounts: false,
  account_ids: [],
  department_ids: [
    "019bc0e2-1280-7691-9060-dc08dcd69a2d"
  ],
  owner_email: "ada@demo.example",
  mine: false,
  has_stored_password: false,
  created_at: "2026-01-12T09:00:00.000Z",
  last_used_at: null,
  expires_at: null,
  revoked_at: "2026-01-13T09:00:00.000Z"
} as const

/** A login into a new account, whose code is sent. */
export const connect = {
  object: "login",
  id: "019bc0e2-9d40-7691-9060-dc1c794fbb01",
  kind: "connect",
  account_id: null,
  phone_number: "+31612340022",
  state: "code_sent",
  code_delivery: "app",
  code_length: 5,
  resend_at: "2026-01-15T09:31:00.000Z",
  password_hint: null,
  attempts_left: 5,
  error: null,
  expires_at: "2026-01-15T09:40:00.000Z",
  created_at: "2026-01-15T09:30:00.000Z"
} as const

/** A login into an account that is known, whose code is sent again. */
export const relogin = {
  object: "login",
  id: "019bc0e2-9d40-7691-9060-dc1c794fbb02",
  kind: "relogin",
  account_id: "019bc0e2-1280-7691-9060-dc1c794fba00",
  phone_number: "+31612340012",
  state: "code_sent",
  code_delivery: "sms",
  code_length: 5,
  resend_at: "2026-01-15T09:36:00.000Z",
  password_hint: null,
  attempts_left: 5,
  error: null,
  expires_at: "2026-01-15T09:45:00.000Z",
  created_at: "2026-01-15T09:31:00.000Z"
} as const

/** A request to the support. */
export const supportRequest = {
  object: "support_request",
  id: "019bc0e2-1280-7136-bfce-339176563995",
  number: 1,
  category: "api",
  subject: "Limit of a nightly export",
  message: "May our nightly export send more than 120 requests in a minute?",
  account_id: null,
  related_request_id: null,
  state: "open",
  answer: null,
  answered_at: null,
  created_by: "019bc0e2-1280-7136-bfce-3373ea8da144",
  created_at: "2026-01-15T09:00:00.000Z",
  updated_at: "2026-01-15T09:00:00.000Z"
} as const
