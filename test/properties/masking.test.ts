import { assert, describe, it } from "@effect/vitest"
import { Arbitrary, Effect, Schema } from "effect"
import { AccountDetail, accountDetail, type AccountFacts, DepartmentId } from "../../src/domain/accounts/Account.ts"
import { AccountStatus, MonitoringState, type StopReason } from "../../src/domain/accounts/ProtectionStatus.ts"
import { RunPhase } from "../../src/domain/archive/ArchiveSummary.ts"
import { contentNotice } from "../../src/domain/JsonShapes.ts"
import {
  BillingState,
  type OrganizationFacts,
  OrganizationStatus,
  Tier
} from "../../src/domain/organization/Organization.ts"
import {
  type Caller,
  OrganizationId,
  readsArchive,
  Role,
  seesDevices,
  superadmins
} from "../../src/domain/people/Access.ts"
import { Admin, admin } from "../../src/domain/people/Admin.ts"
import { drawn } from "../support/drawn.ts"
import { resolve, violations } from "../support/http/documented.ts"
import { between, pickOf } from "../support/random.ts"
import { accountFacts, at, day, now, organizationFacts, sessionFacts } from "../support/stored.ts"

const Moment = Arbitrary.flatMap(
  pickOf(0, 1, 1),
  (set): Arbitrary.Arbitrary<Date | null> =>
    set === 0 ? Arbitrary.Constant(null) : Arbitrary.map(between(-100 * day, 2 * day), at)
)
const Rare = Arbitrary.flatMap(
  pickOf(0, 0, 0, 0, 0, 1),
  (set): Arbitrary.Arbitrary<Date | null> => set === 0 ? Arbitrary.Constant(null) : Moment
)
const Count = between(0, 3)

/** Texts that only those who read the archive, or only those who see devices, may find in an answer. */
const ofArchive = "archive-secret"
const ofDevices = "device-secret"

const organizations: Arbitrary.Arbitrary<Partial<OrganizationFacts>> = Arbitrary.all({
  status: pickOf<OrganizationFacts["status"]>("active", ...OrganizationStatus.literals),
  managed: pickOf(true, false),
  billing_state: pickOf(...BillingState.literals),
  plan: pickOf<OrganizationFacts["plan"]>(...Tier.literals, null),
  trial_ends_at: Moment,
  valid_until: Moment,
  archive_key_set: pickOf(true, true, false),
  archive_first_record_at: Moment,
  archive_held_at: Rare,
  archive_deletion_started_at: Rare,
  storage_limit_bytes: pickOf(null, null, 0, 1)
})

const accounts: Arbitrary.Arbitrary<Partial<AccountFacts>> = Arbitrary.all({
  first_name: pickOf(null, "", "Ada"),
  username: pickOf(null, "ada"),
  department_id: pickOf(null, DepartmentId.make("0196f0a0-0000-7000-8000-000000000002")),
  licence_tier: pickOf<AccountFacts["licence_tier"]>(...Tier.literals, null),
  joined_at: Moment,
  offboarded_at: Rare,
  paused_at: Rare,
  stopped_at: Rare,
  stop_reason: pickOf<StopReason | null>(null, "licence" as const, "session_lost" as const),
  monitoring_state: pickOf(...MonitoringState.literals),
  enforcement_active_at: Moment,
  recovery: pickOf(null, { note: ofDevices }),
  lock_reason: pickOf(null, ofDevices),
  session_ref: pickOf("simulated-1", "simulated-1", null),
  archive_selects: pickOf(true, true, false),
  archive_started_at: Moment,
  archive_queued_at: Moment,
  archive_phase: pickOf<AccountFacts["archive_phase"]>(...RunPhase.literals, null),
  archive_dialogs_total: pickOf(null, 7),
  archive_error: pickOf(null, null, ofArchive),
  archive_retry_at: Moment,
  archive_chats_selected: Count,
  archive_chats_stopped: Count,
  archive_cleanup_running: pickOf(false, false, true)
})

const encode = Schema.encodeEffect(Schema.toCodecJson(AccountDetail))

describe("2.3 the account that a role is shown", () => {
  it.effect.prop(
    "S2-03, S2.3-16, S2.3-18, S2.3-22, S2.3-34: fits the document, tells no secret, and agrees with itself, whatever is stored",
    {
      stored: accounts,
      organization: organizations,
      role: pickOf(...Role.literals),
      granted: pickOf(true, false),
      ended: pickOf(0, 1)
    },
    ({ ended, granted, organization, role, stored }) =>
      Effect.gen(function*() {
        const caller: Caller["Service"] = {
          organizationId: OrganizationId.make("acme"),
          organizationClosed: false,
          adminId: "0196f0a0-0000-7000-8000-000000000003",
          adminName: null,
          role,
          readsArchive: readsArchive(role, granted),
          scopes: [],
          limit: null,
          credential: { kind: "api_key", id: "", label: "" },
          via: "embedded",
          ip: null,
          requestId: null
        }
        const shown = accountDetail(
          accountFacts(stored),
          organizationFacts(organization),
          { last_polled_at: now, last_poll_error: ofDevices },
          [sessionFacts({ device_model: ofDevices })],
          Array.from({ length: ended }, () => ({
            session_id: "1",
            device_label: ofDevices,
            detected_at: now,
            actor: "unknown" as const,
            reason: null
          })),
          caller,
          now
        )
        const body = yield* encode({ ...shown, content_notice: contentNotice })
        const text = JSON.stringify(body)
        assert.deepStrictEqual(
          violations(resolve({ $ref: "#/components/schemas/account_detail" }), JSON.parse(text)),
          []
        )
        if (!caller.readsArchive) assert.notInclude(text, ofArchive)
        if (!seesDevices(role)) assert.notInclude(text, ofDevices)
        assert.strictEqual(text.includes(ofDevices), seesDevices(role))
        const { archive } = shown
        assert.strictEqual(archive.saving.reason === null, archive.saving.state === "saving")
        assert.strictEqual(archive.running !== null, archive.status === "running")
        assert.strictEqual(archive.phase !== null, archive.status === "running")
        assert.strictEqual(archive.error === null, (stored.archive_error ?? null) === null)
        assert.include(AccountStatus.literals, shown.status)
        assert.strictEqual(shown.licence?.uses_licence, shown.status !== "available")
      }),
    drawn(500)
  )
})

describe("10.7 the admin that a role is shown", () => {
  it.effect.prop(
    "fits the document, tells the count of credentials to owner and superadmins alone, and agrees with itself",
    {
      reader: pickOf(...Role.literals),
      role: pickOf(...Role.literals),
      archive_access: pickOf(true, false),
      mine: pickOf(true, false),
      joined_at: Moment,
      disabled_at: Rare,
      invitation_expires_at: Moment
    },
    ({ archive_access, disabled_at, invitation_expires_at, joined_at, mine, reader, role }) =>
      Effect.gen(function*() {
        const id = "0196f0a0-0000-7000-8000-000000000003"
        const shown = admin({
          id,
          email: "ada@example.com",
          name: null,
          role,
          archive_access,
          joined_at,
          disabled_at,
          invitation_expires_at,
          account_ids: [],
          department_ids: [],
          last_active_at: null,
          credentials: 7
        }, { adminId: mine ? id : "0196f0a0-0000-7000-8000-000000000004", role: reader })
        const body = yield* Schema.encodeEffect(Schema.toCodecJson(Admin))(shown)
        assert.deepStrictEqual(
          violations(resolve({ $ref: "#/components/schemas/admin" }), JSON.parse(JSON.stringify(body))),
          []
        )
        assert.strictEqual(shown.credentials, superadmins.includes(reader) ? 7 : null)
        assert.strictEqual(shown.mine, mine)
        assert.strictEqual(shown.status === "disabled", disabled_at !== null)
        assert.strictEqual(shown.invitation_expires_at === null, joined_at !== null || invitation_expires_at === null)
        assert.strictEqual(shown.access.archive, readsArchive(role, archive_access))
      }),
    drawn(200)
  )
})
