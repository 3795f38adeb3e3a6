/** The contents of a seed file: organizations in any state, and people on the simulated messenger. */
import { Schema } from "effect"
import { AccountStatus, MonitoringState, StopReason } from "../../domain/accounts/ProtectionStatus.ts"
import { RunPhase } from "../../domain/archive/ArchiveSummary.ts"
import { ChatEffect, ChatType } from "../../domain/archive/Chat.ts"
import { JournalDetails } from "../../domain/journal/JournalEvent.ts"
import { maxApiKeyLabelLength, maxRoleLabelLength } from "../../domain/Limits.ts"
import { PhoneNumber } from "../../domain/logins/PhoneNumber.ts"
import { Assistant } from "../../domain/oauth/OAuth.ts"
import { BillingState, OrganizationStatus, Period, Recipients, Tier } from "../../domain/organization/Organization.ts"
import { SupportCategory } from "../../domain/organization/Support.ts"
import { isOrganizationId, Role, Scope } from "../../domain/people/Access.ts"
import { mailChoices } from "../../domain/people/MailPreferences.ts"
import { SeedChat } from "./SeedChats.ts"
import { Bytes, Email, Name, Natural, optional, Person, SeedTime, Text } from "./SeedValues.ts"

export { resolve, type SeedPerson } from "./SeedValues.ts"

const isStorable = Schema.makeFilter(
  (value: unknown) => !/\\u(?:0000|d[89a-f])/i.test(JSON.stringify(value)),
  { expected: "text without U+0000 and lone surrogates" }
)

/** Sign-up links are rows of their own. */
const Links = Schema.Natural.check(Schema.isLessThanOrEqualTo(10_000))

const Session = Schema.Struct({
  id: optional(Name).annotate({ description: "The messenger's id; made up where it is left out." }),
  service: optional(Schema.Boolean),
  current: optional(Schema.Boolean),
  baseline: optional(Schema.Boolean),
  approved_at: optional(SeedTime),
  approved_by: optional(Email),
  review_deadline: optional(SeedTime),
  queued_at: optional(SeedTime),
  device_model: optional(Text),
  platform: optional(Text),
  app_name: optional(Text),
  app_version: optional(Text),
  ip: optional(Text),
  country: optional(Text),
  last_active_at: optional(SeedTime),
  created_at: optional(SeedTime),
  seen_at: optional(SeedTime)
}).annotate({ identifier: "session" })

const Termination = Schema.Struct({
  session_id: Name,
  device_label: optional(Text),
  detected_at: SeedTime,
  actor: Schema.Literals(["service", "external", "unknown"]),
  reason: optional(Schema.Literals(["rejected", "autokill", "hijacked"]))
}).check(
  Schema.makeFilter(
    (value: { readonly actor: string; readonly reason?: string }) =>
      (value.actor === "service") === (value.reason !== undefined),
    {
      expected: "a reason exactly where the actor is the service"
    }
  )
).annotate({ identifier: "termination" })

const ArchivePassword = Name.check(Schema.isMinLength(12))

const Archive = Schema.Struct({
  selects: optional(Schema.Boolean),
  live: optional(Schema.Boolean),
  messages: optional(Natural),
  media: optional(Natural),
  bytes: optional(Bytes),
  last_backup_at: optional(SeedTime),
  next_backup_at: optional(SeedTime),
  updated_at: optional(SeedTime),
  last_sync_at: optional(SeedTime),
  queued_at: optional(SeedTime),
  started_at: optional(SeedTime),
  phase: optional(RunPhase),
  dialogs_done: optional(Natural),
  dialogs_total: optional(Natural),
  error: optional(Text),
  retry_at: optional(SeedTime),
  chats_discovered: optional(Natural),
  chats_selected: optional(Natural),
  chats_with_data: optional(Natural),
  chats_complete: optional(Natural),
  chats_review: optional(Natural),
  chats_stopped: optional(Natural),
  cleanup_running: optional(Schema.Boolean),
  chats: optional(Schema.Array(SeedChat)).annotate({
    description: "Sealed under the organization's archive password; they are counted beside what is said above."
  }),
  generated_messages: optional(Natural.check(Schema.isLessThanOrEqualTo(1_000_000))).annotate({
    description: "So many further messages in chats of 500, sealed too, for trials of size."
  })
}).annotate({ identifier: "archive" })

const Messenger = Schema.Struct({
  about: optional(Text),
  photo_id: optional(Name),
  premium: optional(Schema.Boolean),
  connected: optional(Schema.Boolean).annotate({
    description:
      "Whether the service has a live session; true by default. Without one, live operations answer no_session."
  }),
  connected_at: optional(SeedTime).annotate({
    description: "When the service's session was made; 30 days ago by default."
  }),
  two_fa_password: optional(Name),
  two_fa_managed: optional(Schema.Boolean).annotate({ description: "Whether the service holds the 2FA password." }),
  login_email: optional(Email),
  recovery_email: optional(Email),
  passkey_id: optional(Name),
  passkey_managed: optional(Schema.Boolean),
  paired: optional(Schema.Boolean).annotate({
    description: "Whether the first session of the service that is not the current one is its second live session."
  }),
  unreachable: optional(Schema.Boolean).annotate({
    description: "Whether the messenger does not say which devices are signed in; monitoring does not go on then."
  }),
  frozen: optional(Schema.Boolean).annotate({
    description: "Whether nobody is signed out and nobody is seen active, so that the sessions stay as they are."
  })
}).annotate({ identifier: "messenger", description: "The person on the simulated messenger." })

const Account = Schema.Struct({
  phone: PhoneNumber,
  first_name: optional(Text),
  last_name: optional(Text),
  username: optional(Name),
  role_label: optional(Text.check(Schema.isMaxCodePoints(maxRoleLabelLength))),
  department: optional(Name),
  licence_tier: optional(Tier),
  joined_at: optional(SeedTime),
  connected_at: optional(SeedTime),
  enrolled_at: optional(SeedTime),
  enforcement_active_at: optional(SeedTime),
  offboarded_at: optional(SeedTime),
  paused_at: optional(SeedTime),
  resumed_at: optional(SeedTime),
  stopped_at: optional(SeedTime),
  stop_reason: optional(StopReason),
  takeover_stopped_at: optional(SeedTime),
  locked_at: optional(SeedTime),
  lock_reason: optional(Text),
  security_lock: optional(Schema.Boolean),
  monitoring: optional(Schema.Struct({
    state: optional(MonitoringState),
    failures: optional(Natural),
    last_ok_at: optional(SeedTime),
    last_polled_at: optional(SeedTime),
    last_poll_error: optional(Text),
    recovery: optional(Schema.Record(Schema.String, Schema.Json).check(isStorable))
  })),
  paired_session: optional(Schema.Struct({
    state: Schema.Literals(["none", "active", "lost"]),
    since: optional(SeedTime),
    error: optional(Text)
  })),
  archive_consent_at: optional(SeedTime),
  archive: optional(Archive),
  sessions: optional(Schema.Array(Session)),
  terminations: optional(Schema.Array(Termination)),
  messenger: optional(Messenger)
}).annotate({ identifier: "account" })
export type SeedAccount = typeof Account.Type
export type SeedSession = typeof Session.Type

/** True if the session can be the service's second one. */
export const isPaired = ({ current = false, service = false }: SeedSession): boolean => service && !current

const Admin = Schema.Struct({
  email: Email,
  name: optional(Name),
  role: Role,
  sign_in: optional(Schema.Boolean).annotate({ description: "Whether they have joined; true by default." }),
  disabled_at: optional(SeedTime),
  password_changed_at: optional(SeedTime),
  archive_access: optional(Schema.Boolean),
  mail: optional(Schema.Struct(mailChoices)),
  accounts: optional(Schema.Array(PhoneNumber)).annotate({ description: "The accounts granted, by phone number." }),
  departments: optional(Schema.Array(Name)).annotate({ description: "The departments granted, by name." })
}).annotate({ identifier: "admin" })

const ApiKey = Schema.Struct({
  label: Name.check(Schema.isMaxCodePoints(maxApiKeyLabelLength)),
  admin: Email,
  scopes: Schema.NonEmptyArray(Scope),
  created_at: optional(SeedTime),
  last_used_at: optional(SeedTime),
  expires_at: optional(Schema.NullOr(SeedTime)).annotate({
    description: "Null for never; 90 days from now by default."
  }),
  revoked_at: optional(SeedTime)
}).annotate({ identifier: "api_key" })

const AiConnection = Schema.Struct({
  label: Name,
  admin: Email,
  kind: Schema.Literals(["token", "oauth"]),
  client: optional(Schema.Struct({
    name: Name,
    host: Name,
    known: optional(Assistant)
  })),
  mode: optional(Schema.Literals(["cloud", "local"])),
  scopes: Schema.Array(Scope),
  accounts: optional(Schema.Array(PhoneNumber)),
  departments: optional(Schema.Array(Name)),
  has_stored_password: optional(Schema.Boolean),
  created_at: optional(SeedTime),
  last_used_at: optional(SeedTime),
  expires_at: optional(SeedTime),
  revoked_at: optional(SeedTime)
}).check(
  Schema.makeFilter(
    (value: { readonly kind: string; readonly client?: unknown }) =>
      (value.kind === "oauth") === (value.client !== undefined),
    {
      expected: "a client exactly where the kind is oauth"
    }
  )
).annotate({ identifier: "ai_connection" })

const SupportRequest = Schema.Struct({
  admin: Schema.String,
  category: SupportCategory,
  subject: Name,
  message: Schema.String
}).annotate({ identifier: "support_request" })

const Past = SeedTime.check(Schema.isPattern(/^-/u, { expected: "a distance back from now" }))

const StatusSample = Schema.Struct({
  at: Past,
  accounts: Schema.Record(AccountStatus, optional(Natural))
}).annotate({
  identifier: "status_sample",
  description: "How many accounts were in each status from then on, until the next sample."
})

const JournalEvent = Schema.Struct({
  at: Past,
  action: Schema.String.check(
    Schema.isPattern(/^[a-z_]+\.[a-z_]+$/u, { expected: "an action such as account.paused" })
  ),
  by: Schema.Union([Schema.Literals(["service", "operator", "holder", "external"]), Email]).annotate({
    description: "Who did it: an admin by the email address, or one of the others."
  }),
  account: optional(PhoneNumber).annotate({ description: "The account that it concerns, by phone number." }),
  session: optional(Name).annotate({
    description: "The account's session that it concerns: its device_model, or the session_id of a termination."
  }),
  details: optional(JournalDetails)
}).annotate({ identifier: "journal_event", description: "Something that happened before." })
export type SeedEvent = typeof JournalEvent.Type

const ArchiveRule = Schema.Struct({
  chat_type: Schema.Union([ChatType, Schema.Literal("any")]),
  effect: ChatEffect,
  media: optional(Schema.Literals(["all", "none"])),
  live: optional(Schema.Boolean)
}).annotate({ identifier: "archive_rule", description: "A rule of the whole organization." })
export type SeedRule = typeof ArchiveRule.Type

const Organization = Schema.Struct({
  id: Schema.String.check(isOrganizationId),
  name: Name,
  status: optional(OrganizationStatus),
  closed_at: optional(SeedTime),
  managed: optional(Schema.Boolean),
  billing_state: optional(BillingState),
  plan: optional(Tier),
  period: optional(Period),
  licences: optional(
    Schema.Struct({ protect: optional(Natural), archive: optional(Natural), governance: optional(Natural) })
  ),
  trial_ends_at: optional(SeedTime),
  valid_until: optional(SeedTime),
  seat_limit: optional(Natural),
  unused_sign_up_links: optional(Links),
  used_sign_up_links: optional(Links),
  tamper_lockdown_enabled: optional(Schema.Boolean),
  notification_recipients: optional(Recipients),
  archive: optional(Schema.Struct({
    password: optional(ArchivePassword).annotate({
      description: "The archive password; without one, no chats can be sealed."
    }),
    rules: optional(Schema.Array(ArchiveRule)).annotate({
      description: "Which chats are archived; without any, each one waits for a decision."
    }),
    key_set: optional(Schema.Boolean),
    first_record_at: optional(SeedTime),
    plan_ended_at: optional(SeedTime),
    held_at: optional(SeedTime),
    deletion_started_at: optional(SeedTime),
    deleted_at: optional(SeedTime)
  })),
  storage_used_bytes: optional(Bytes),
  storage_limit_bytes: optional(Bytes),
  departments: optional(Schema.Array(Name)),
  admins: Schema.Array(Admin),
  accounts: optional(Schema.Array(Account)),
  status_samples: optional(Schema.Array(StatusSample)),
  journal: optional(Schema.Array(JournalEvent)).annotate({
    description: "What is in the journal already, the oldest first."
  }),
  api_keys: optional(Schema.Array(ApiKey)),
  ai_connections: optional(Schema.Array(AiConnection)),
  support_requests: optional(Schema.Array(SupportRequest))
}).annotate({ identifier: "organization" })
export type SeedOrganization = typeof Organization.Type

/** A seed file: one JSON object. */
export const Seed = Schema.Struct({
  $schema: optional(Schema.String),
  organizations: Schema.Array(Organization),
  messenger: optional(Schema.Struct({
    taken_usernames: optional(Schema.Array(Name)).annotate({ description: "Usernames that strangers have." }),
    usernames_for_sale: optional(Schema.Array(Name)),
    people: optional(Schema.Array(Person))
  }))
}).annotate({ identifier: "seed" })
export type Seed = typeof Seed.Type
