/** The commands that list, show and change organizations, admins and keys. */
import { Effect, Option } from "effect"
import { Argument, Command, Flag } from "effect/cli"
import { Tier } from "../../domain/organization/Organization.ts"
import { Role } from "../../domain/people/Access.ts"
import type * as ApiKeys from "../../operator/credentials/ApiKeys.ts"
import type * as Organizations from "../../operator/organization/Organizations.ts"
import type * as Admins from "../../operator/people/Admins.ts"
import { common, email, organization, run } from "./DatabaseCommand.ts"
import { billingFlags, billingInput } from "./organization/BillingFlags.ts"
import * as Output from "./Output.ts"

const day = (moment: Date | null, otherwise: string): string => moment?.toISOString().slice(0, 10) ?? otherwise
const minute = (moment: Date | null, otherwise: string): string =>
  moment === null ? otherwise : `${moment.toISOString().slice(0, 16).replace("T", " ")} UTC`
const yesNo = (truth: boolean): string => truth ? "yes" : "no"

const keyId = Argument.String("key-id").pipe(Argument.withDescription("The key's id"))
const newName = (of: string) => Flag.String("name").pipe(Flag.withDescription(`The ${of}'s new name`), Flag.optional)

type Organization = typeof Organizations.showOrganization.output.Type

const licencesText = ({ billing: { licences } }: Organization): string =>
  Tier.literals.every((tier) => licences[tier] === 0)
    ? "not counted by tier"
    : Tier.literals.map((tier) => `${licences[tier]} ${tier}`).join(", ")

/** The known facts of an organization's billing. */
const billingLines = ({ billing }: Organization): ReadonlyArray<ReadonlyArray<string>> => {
  const known: ReadonlyArray<readonly [string, Date | string | null]> = [
    ["Period", billing.period],
    ["Trial ends", billing.trial_ends_at],
    ["Paid until", billing.current_period_ends_at],
    ["Ends", billing.cancel_at],
    ["Amount", billing.amount === null ? null : `${billing.amount} ${billing.currency ?? ""}, in the smallest unit`],
    ["Payer", billing.payer_email],
    ["Next invoice", billing.next_invoice_at]
  ]
  return known.flatMap(([name, value]) =>
    value === null ? [] : [[name, typeof value === "string" ? value : minute(value, "")]]
  )
}

const organizationLines = (found: Organization): ReadonlyArray<string> =>
  Output.columns([
    ["Id", found.id],
    ["Name", found.name],
    ["Status", found.status],
    ["Plan", found.plan ?? "none"],
    [
      "Seats",
      `${found.seats.used} of ${found.seats.limit} in use${
        found.seats.reserved === 0 ? "" : `, ${found.seats.reserved} kept for sign-up links`
      }`
    ],
    ["Licences", licencesText(found)],
    ...billingLines(found),
    [
      "Licence",
      found.managed
        ? `by subscription, ${found.billing.state}`
        : `by agreement, until ${minute(found.valid_until, "it is ended")}`
    ],
    ["Messenger", found.simulated ? "simulated" : "real"],
    ["Created", minute(found.created_at, "")]
  ])

const listOrganizations = Command.make("list", common, (input) =>
  Effect.gen(function*() {
    const answer = yield* run(input, (requests) => requests.organizations_list({}))
    yield* Output.print(input.json, answer, () =>
      answer.organizations.length === 0
        ? ["There is no organization yet."]
        : Output.table(
          ["ID", "NAME", "STATUS", "PLAN", "SEATS", "UNTIL"],
          answer.organizations.map((each) => [
            each.id,
            each.name,
            each.status,
            each.plan ?? "none",
            `${each.seats.used}/${each.seats.limit}`,
            each.managed ? "subscription" : day(each.valid_until, "open-ended")
          ])
        ))
  })).pipe(Command.withDescription("List the organizations"))

const showOrganization = Command.make("show", { ...common, organization }, (input) =>
  Effect.gen(function*() {
    const found = yield* run(input, (requests) => requests.organizations_show({ organization: input.organization }))
    yield* Output.print(input.json, found, () => organizationLines(found))
  })).pipe(Command.withDescription("Show an organization: its plan, seats and licence"))

const setOrganization = Command.make("set", {
  ...common,
  organization,
  name: newName("organization"),
  plan: Flag.Literals("plan", Tier.literals).pipe(
    Flag.withDescription("What it is licensed for"),
    Flag.optional
  ),
  seats: Flag.Int("seats").pipe(Flag.withDescription("How many accounts it may protect"), Flag.optional),
  validUntil: Flag.Date("valid-until").pipe(Flag.withDescription("When the licence ends"), Flag.optional),
  openEnded: Flag.Boolean("open-ended").pipe(
    Flag.withDescription("The licence has no end any more"),
    Flag.withDefault(false)
  ),
  billing: billingFlags,
  requireSecondFactor: Flag.Boolean("require-second-factor").pipe(
    Flag.withDescription("Whether every admin needs a second factor to sign in to the console"),
    Flag.optional
  )
}, (input) =>
  Effect.gen(function*() {
    const found = yield* run(input, (requests) =>
      requests.organizations_set({
        organization: input.organization,
        name: Option.getOrNull(input.name),
        plan: Option.getOrNull(input.plan),
        seats: Option.getOrNull(input.seats),
        valid_until: Option.getOrNull(input.validUntil),
        open_ended: input.openEnded,
        billing: billingInput(input.billing),
        ...(Option.isNone(input.requireSecondFactor) ? {} : { require_second_factor: input.requireSecondFactor.value })
      }))
    yield* Output.print(input.json, found, () => organizationLines(found))
  })).pipe(
    Command.withDescription(
      "Change an organization's name, plan, seats, licences or billing; what no flag names stays"
    ),
    Command.withExamples([
      { command: "security-console organizations set acme --seats 50", description: "Give it more seats" },
      { command: "security-console organizations set acme --valid-until 2027-12-31", description: "End its licence" },
      {
        command:
          "security-console organizations set acme --licensed-by subscription --billing-state active --period annual",
        description: "Bill it from now on"
      }
    ])
  )

/** A command that changes the status of an organization. */
const statusCommand = (act: typeof Organizations.changeStatus.input.Type["act"], description: string) =>
  Command.make(act, { ...common, organization }, (input) =>
    Effect.gen(function*() {
      const found = yield* run(input, (requests) =>
        requests.organizations_change_status({ organization: input.organization, act }))
      yield* Output.print(input.json, found, () =>
        organizationLines(found))
    })).pipe(Command.withDescription(description))

const statusCommands = [
  statusCommand("suspend", "Suspend an organization: it is not protected until it is activated; everything is kept"),
  statusCommand("activate", "Activate an organization that is pending or suspended"),
  statusCommand("close", "Close an organization: no operation answers any more; everything is kept"),
  statusCommand("reopen", "Open an organization again, within 30 days after it was closed")
]

type Admin = typeof Admins.showAdmin.output.Type

const adminLines = (found: Admin): ReadonlyArray<string> =>
  Output.columns([
    ["Email", found.email],
    ["Name", found.name ?? "none"],
    ["Role", found.role],
    ["State", found.state === "disabled" ? `disabled since ${minute(found.disabled_at, "")}` : found.state],
    ["Password", found.has_password ? "set" : "none: admins set-password gives one"],
    ...(found.role === "admin" ? [["Reads the archive", yesNo(found.archive_access)]] : []),
    ["Created", minute(found.created_at, "")],
    ["Id", found.id]
  ])

const listAdmins = Command.make("list", { ...common, organization }, (input) =>
  Effect.gen(function*() {
    const answer = yield* run(input, (requests) => requests.admins_list({ organization: input.organization }))
    yield* Output.print(input.json, answer, () =>
      Output.table(
        ["EMAIL", "NAME", "ROLE", "STATE", "PASSWORD"],
        answer.admins.map((each) => [
          each.email,
          each.name ?? "",
          each.role,
          each.state,
          each.has_password ? "set" : "none"
        ])
      ))
  })).pipe(Command.withDescription("List the admins of an organization"))

const showAdmin = Command.make("show", { ...common, organization, email }, (input) =>
  Effect.gen(function*() {
    const found = yield* run(input, (requests) =>
      requests.admins_show({ organization: input.organization, email: input.email }))
    yield* Output.print(input.json, found, () =>
      adminLines(found))
  })).pipe(Command.withDescription("Show an admin"))

const setAdmin = Command.make("set", {
  ...common,
  organization,
  email,
  name: newName("admin"),
  role: Flag.Literals("role", Role.literals).pipe(
    Flag.withDescription("What the admin may do from now on; the owner's stays"),
    Flag.optional
  )
}, (input) =>
  Effect.gen(function*() {
    const found = yield* run(input, (requests) =>
      requests.admins_set({
        organization: input.organization,
        email: input.email,
        name: Option.getOrNull(input.name),
        role: Option.getOrNull(input.role)
      }))
    yield* Output.print(input.json, found, () => adminLines(found))
  })).pipe(
    Command.withDescription("Change an admin's name or role; their credentials follow the role at once"),
    Command.withExamples([
      {
        command: "security-console admins set acme ada@acme.example --role superadmin",
        description: "Promote an admin"
      }
    ])
  )

type Key = typeof ApiKeys.showKey.output.Type

const stateText: Readonly<Record<Key["state"], string>> = {
  works: "works",
  revoked: "revoked",
  expired: "expired",
  stopped: "stopped: its admin is disabled, or has another password since"
}

const keyLines = (found: Key): ReadonlyArray<string> =>
  Output.columns([
    ["Id", found.key_id],
    ["Label", found.label],
    ["Admin", found.admin],
    ["Scopes", found.scopes.join(" ")],
    ["State", stateText[found.state]],
    ["Created", minute(found.created_at, "")],
    ["Last used", minute(found.last_used_at, "never")],
    ["Expires", minute(found.expires_at, "never")],
    ...(found.revoked_at === null ? [] : [["Revoked", minute(found.revoked_at, "")]])
  ])

const listKeys = Command.make("list", { ...common, organization }, (input) =>
  Effect.gen(function*() {
    const answer = yield* run(input, (requests) => requests.keys_list({ organization: input.organization }))
    yield* Output.print(input.json, answer, () =>
      answer.keys.length === 0
        ? [`${input.organization} has no API key.`]
        : Output.table(
          ["KEY ID", "LABEL", "ADMIN", "STATE"],
          answer.keys.map((each) => [each.key_id, each.label, each.admin, each.state])
        ))
  })).pipe(Command.withDescription("List the API keys of an organization, the newest first; never the keys themselves"))

const showKey = Command.make("show", { ...common, organization, keyId }, (input) =>
  Effect.gen(function*() {
    const found = yield* run(input, (requests) =>
      requests.keys_show({ organization: input.organization, key_id: input.keyId }))
    yield* Output.print(input.json, found, () =>
      keyLines(found))
  })).pipe(Command.withDescription("Show an API key: its admin, scopes and dates; never the key itself"))

/** The commands of each group besides those that make things. */
export const organizationRecords = [listOrganizations, showOrganization, setOrganization, ...statusCommands] as const
export const adminRecords = [listAdmins, showAdmin, setAdmin] as const
export const keyRecords = [listKeys, showKey] as const
