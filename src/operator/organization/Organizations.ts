/** An operator's actions on organizations. */
import { Duration, Effect, Schema } from "effect"
import { Timestamp } from "../../domain/JsonShapes.ts"
import { billingFault } from "../../domain/organization/Billing.ts"
import {
  consequences,
  type OrganizationFacts,
  OrganizationStatus,
  type OrganizationSummary,
  Tier
} from "../../domain/organization/Organization.ts"
import { timeZoneNamed } from "../../domain/organization/TimeZone.ts"
import { isOrganizationId, OrganizationId } from "../../domain/people/Access.ts"
import { ArchiveHolds } from "../../ports/archive/ArchiveHolds.ts"
import { Directory } from "../../ports/organization/Directory.ts"
import { Licences } from "../../ports/organization/Licences.ts"
import { Organizations } from "../../ports/organization/Organizations.ts"
import { Overview } from "../../ports/organization/StatusOverview.ts"
import { Admins } from "../../ports/people/Admins.ts"
import { FactorRecords } from "../../ports/signin/FactorRecords.ts"
import { entry, existing, journaled, now } from "../Journaled.ts"
import { Email, Name } from "../RequestFields.ts"
import { refuse, useCase } from "../UseCase.ts"
import { Billing, billing, billingDetails, BillingInput } from "./Subscriptions.ts"

const Organization = Schema.Struct({
  id: Schema.String,
  name: Schema.String,
  /** An organization that was closed keeps the status that it had, and has it again when it is reopened. */
  status: Schema.Literals([...OrganizationStatus.literals, "closed"]),
  /** Licensed by subscription, not by agreement. */
  managed: Schema.Boolean,
  simulated: Schema.Boolean,
  plan: Schema.NullOr(Tier),
  seats: Schema.Struct({ limit: Schema.Int, used: Schema.Int, reserved: Schema.Int }),
  valid_until: Schema.NullOr(Timestamp),
  billing: Billing,
  created_at: Timestamp,
  time_zone: Schema.String,
  /** The start of the legal hold that keeps its archive from being deleted. */
  archive_held_at: Schema.NullOr(Timestamp)
})

const shown = (summary: OrganizationSummary): typeof Organization.Type => ({
  id: summary.id,
  name: summary.name,
  status: summary.closed_at === null ? summary.status : "closed",
  managed: summary.managed,
  simulated: summary.simulated,
  plan: summary.plan,
  seats: { limit: summary.seat_limit, used: summary.seats_used, reserved: summary.seats_reserved },
  valid_until: summary.valid_until,
  billing: billing(summary),
  created_at: summary.created_at,
  time_zone: summary.time_zone,
  archive_held_at: summary.archive_held_at
})

const find = Effect.fnUntraced(function*(id: string) {
  const found = yield* (yield* Directory).find(id)
  return shown(found ?? (yield* refuse(`There is no organization ${id}.`)))
})

export const createOrganization = useCase(
  "organizations_create",
  Schema.Struct({
    id: Schema.String,
    name: Schema.String,
    owner: Email,
    plan: Tier,
    seats: Schema.Natural,
    valid_until: Schema.NullOr(Timestamp)
  }),
  Schema.Struct({ organization: Schema.String, owner: Schema.String, admin_id: Schema.String }),
  ({ id, name, owner, plan, seats, valid_until }) =>
    Effect.gen(function*() {
      const directory = yield* Directory
      const admins = yield* Admins
      if (!Schema.is(Schema.String.check(isOrganizationId))(id)) {
        return yield* refuse("An organization's id is 1 to 63 lower-case letters, digits and hyphens.")
      }
      const organization = OrganizationId.make(id)
      const at = yield* now
      return yield* journaled(
        organization,
        Effect.gen(function*() {
          const made = yield* directory.create({ id: organization, name, plan, seats, validUntil: valid_until }, at)
          const admin_id = made
            ? yield* admins.create(organization, { email: owner, name: null, role: "owner", archiveAccess: false }, at)
            : null
          if (admin_id === null) return yield* refuse(`There is an organization ${id} already.`)
          return [{ organization: id, owner, admin_id }, entry("organization.created", id, { plan, seats, owner })]
        })
      )
    })
)

export const listOrganizations = useCase(
  "organizations_list",
  Schema.Struct({}),
  Schema.Struct({ organizations: Schema.Array(Organization) }),
  () =>
    Effect.gen(function*() {
      return { organizations: (yield* (yield* Directory).organizations).map(shown) }
    })
)

export const showOrganization = useCase(
  "organizations_show",
  Schema.Struct({ organization: Schema.String }),
  Organization,
  ({ organization }) => find(organization)
)

/** Refuses seats below those that are held. */
const refuseSeats = Effect.fnUntraced(function*(facts: OrganizationFacts, seats: number | null) {
  const taken = facts.seats_used + facts.seats_reserved
  if (seats !== null && seats < taken) {
    return yield* refuse(`${facts.id} has ${taken} seats in use or kept for sign-up links: it cannot have ${seats}.`)
  }
})

export const setOrganization = useCase(
  "organizations_set",
  Schema.Struct({
    organization: Schema.String,
    /** Null leaves it as it is, here and below. */
    name: Schema.NullOr(Name),
    plan: Schema.NullOr(Tier),
    seats: Schema.NullOr(Schema.Natural),
    valid_until: Schema.NullOr(Timestamp),
    /** Takes the end away. */
    open_ended: Schema.Boolean,
    billing: Schema.optionalKey(BillingInput),
    /** True if every admin needs a second factor; left out it stays as it is. */
    require_second_factor: Schema.optionalKey(Schema.Boolean),
    /** A name in the tz database; left out it stays as it is. */
    time_zone: Schema.optionalKey(Schema.String)
  }),
  Organization,
  ({
    billing: billed = {},
    name,
    open_ended,
    organization,
    plan,
    require_second_factor,
    seats,
    time_zone,
    valid_until
  }) =>
    Effect.gen(function*() {
      const directory = yield* Directory
      const factors = yield* FactorRecords
      const licences = yield* Licences
      const organizations = yield* Organizations
      const overview = yield* Overview
      const id = yield* existing(organization)
      if (open_ended && valid_until !== null) return yield* refuse("A licence has an end or none: not both.")
      const zone = time_zone === undefined ? undefined : timeZoneNamed(time_zone)
      if (zone === null) {
        return yield* refuse(`There is no time zone ${time_zone}: use a name such as Europe/Berlin, or UTC.`)
      }
      const ends = open_ended || valid_until !== null
      const changes = {
        ...(name === null ? {} : { name }),
        ...(plan === null ? {} : { plan }),
        ...(seats === null ? {} : { seat_limit: seats }),
        ...(zone === undefined ? {} : { time_zone: zone }),
        ...(ends ? { valid_until } : {}),
        // A change to a subscription leaves no end by agreement, and the other way round no billing state.
        ...(billed.managed === true && !ends ? { valid_until: null } : {}),
        ...(billed.managed === false ? { billing_state: "none" as const } : {}),
        ...billed
      }
      const changesFacts = Object.keys(changes).length > 0
      if (!changesFacts && require_second_factor === undefined) {
        return yield* refuse("There is nothing to change: say what, by its flag.")
      }
      const at = yield* now
      yield* journaled(
        id,
        Effect.gen(function*() {
          const facts = yield* organizations.lockFacts(id)
          yield* refuseSeats(facts, seats)
          const after = { ...facts, ...(yield* overview.billing(id)), ...changes }
          const licensed = plan !== null || ends ||
            Object.keys(billed).some((name) => name !== "storage_limit_bytes")
          const fault = licensed ? billingFault(after, yield* licences.used(id), ends) : null
          if (fault !== null) return yield* refuse(fault)
          if (changesFacts) yield* directory.update(id, { ...changes, ...consequences(facts, after, at) })
          const ended = require_second_factor === undefined
            ? null
            : yield* factors.setRequired(id, require_second_factor)
          if (!changesFacts && ended === null) return [null, null]
          const details = {
            ...(name === null ? {} : { name }),
            ...(plan === null ? {} : { plan }),
            ...(seats === null ? {} : { seats }),
            ...(open_ended ? { open_ended } : {}),
            ...(valid_until === null ? {} : { valid_until: valid_until.toISOString() }),
            ...(zone === undefined ? {} : { time_zone: zone }),
            ...billingDetails(billed),
            ...(require_second_factor === undefined || ended === null
              ? {}
              : { requires_second_factor: require_second_factor, sessions: ended })
          }
          return [null, entry("organization.set", id, details)]
        })
      )
      return yield* find(organization)
    })
)

const reopenableFor = Duration.days(30)

const closedFor = (facts: OrganizationFacts, at: Date): number =>
  facts.closed_at === null ? 0 : at.getTime() - facts.closed_at.getTime()

/**
 * The changes by each action, by the facts; a text is the reason that it is refused, null means that nothing is to
 * change.
 */
const transitions = {
  suspend: (facts: OrganizationFacts, at: Date) =>
    facts.status === "suspended" && facts.suspend_reason !== "licence"
      ? null
      : { status: "suspended" as const, suspended_at: at, suspend_reason: "operator" as const },
  activate: (facts: OrganizationFacts) =>
    facts.suspend_reason === "licence"
      ? "Its licence ended more than 30 days ago: give it a new end."
      : facts.status === "active"
      ? null
      : { status: "active" as const, suspended_at: null, suspend_reason: null },
  close: (facts: OrganizationFacts, at: Date) => facts.closed_at === null ? { closed_at: at } : null,
  reopen: (facts: OrganizationFacts, at: Date) =>
    facts.closed_at === null
      ? null
      : closedFor(facts, at) > Duration.toMillis(reopenableFor)
      ? "It was closed more than 30 days ago, and stays so."
      : { closed_at: null }
}

const actions = {
  suspend: "organization.suspended",
  activate: "organization.activated",
  close: "organization.closed",
  reopen: "organization.reopened"
} as const

export const changeStatus = useCase(
  "organizations_change_status",
  Schema.Struct({
    organization: Schema.String,
    /** The action: suspending and closing keep everything that is stored. */
    act: Schema.Literals(["suspend", "activate", "close", "reopen"])
  }),
  Organization,
  ({ act, organization }) =>
    Effect.gen(function*() {
      const directory = yield* Directory
      const organizations = yield* Organizations
      const id = yield* existing(organization)
      const at = yield* now
      yield* journaled(
        id,
        Effect.gen(function*() {
          yield* organizations.lockRecipients(id)
          const changes = transitions[act](yield* organizations.facts({ organizationId: id }), at)
          if (typeof changes === "string") return yield* refuse(changes)
          if (changes === null) return [null, null]
          yield* directory.update(id, changes)
          return [null, entry(actions[act], id)]
        })
      )
      return yield* find(organization)
    })
)

export const holdArchive = useCase(
  "organizations_hold",
  Schema.Struct({
    organization: Schema.String,
    /** False releases it. */
    held: Schema.Boolean
  }),
  Organization,
  ({ held, organization }) =>
    Effect.gen(function*() {
      const holds = yield* ArchiveHolds
      const id = yield* existing(organization)
      const at = yield* now
      yield* journaled(
        id,
        Effect.map(
          holds.holdAll(id, held ? at : null),
          (changed) => [null, changed ? entry(held ? "archive.held" : "archive.released", id) : null] as const
        )
      )
      return yield* find(organization)
    })
)
