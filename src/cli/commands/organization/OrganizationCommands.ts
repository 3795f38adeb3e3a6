/** The commands about organizations. */
import { Option } from "effect"
import { Command, Flag } from "effect/cli"
import { Tier } from "../../../domain/organization/Organization.ts"
import type * as Organizations from "../../../operator/organization/Organizations.ts"
import { argument, asking, email, flag, organization, orNull, sending } from "../OperatorCommand.ts"
import * as Output from "../Output.ts"
import { identityProvider } from "../signin/IdentityCommands.ts"
import { billingFlags, billingInput } from "./BillingFlags.ts"

const seats = Flag.Int("seats").pipe(Flag.withDescription("How many accounts it may protect"))

const createOrganization = Command.make(
  "create",
  asking({
    id: argument("id", "What admins type at sign-in, such as acme"),
    name: flag("name", "The organization's name"),
    owner: flag("owner", "The owner's email address"),
    plan: Flag.Literals("plan", Tier.literals).pipe(
      Flag.withDescription("What it is licensed for, by agreement"),
      Flag.withDefault<Tier>("governance")
    ),
    seats: Flag.withDefault(seats, 25),
    valid_until: Flag.Date("valid-until").pipe(
      Flag.withDescription("When the licence ends; open-ended by default"),
      orNull
    )
  }),
  sending((requests, asked) => requests.organizations_create(asked), (answer, _, { data, databaseUrl }) => [
    `Created ${answer.organization}, owned by ${answer.owner}. Next, the owner's password for the console, and a key:`,
    "",
    Output.ownerCommands(answer.organization, answer.owner, Option.isNone(databaseUrl) ? data : null)
  ])
).pipe(
  Command.withDescription("Make an organization, licensed by agreement, with its owner"),
  Output.examples(["organizations create acme --name \"Acme\" --owner olivia@acme.example", "Make one with 25 seats"])
)

/** Hands an organization over, also where its owner is gone. */
const transferOwnership = Command.make(
  "transfer-ownership",
  asking({ organization, email }),
  sending((requests, asked) => requests.organizations_transfer_ownership(asked), (answer) => [
    `${answer.email} owns ${answer.organization} from now on; ${answer.from ?? "nobody"} did before.`
  ])
).pipe(Command.withDescription("Make an active superadmin the owner of the organization"))

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
    value === null ? [] : [[name, typeof value === "string" ? value : Output.minute(value)]]
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
        : `by agreement, until ${Output.minute(found.valid_until, "it is ended")}`
    ],
    ["Messenger", found.simulated ? "simulated" : "real"],
    ...(found.archive_held_at === null
      ? []
      : [["Legal hold", `on its archive since ${Output.minute(found.archive_held_at)}`] as const]),
    ["Time zone", found.time_zone],
    ["Created", Output.minute(found.created_at)]
  ])

const listOrganizations = Command.make(
  "list",
  asking({}),
  sending((requests) => requests.organizations_list({}), ({ organizations }) =>
    organizations.length === 0
      ? ["There is no organization yet."]
      : Output.table(
        ["ID", "NAME", "STATUS", "PLAN", "SEATS", "UNTIL"],
        organizations.map((each) => [
          each.id,
          each.name,
          each.status,
          each.plan ?? "none",
          `${each.seats.used}/${each.seats.limit}`,
          each.managed ? "subscription" : Output.day(each.valid_until, "open-ended")
        ])
      ))
).pipe(Command.withDescription("List the organizations"))

const showOrganization = Command.make(
  "show",
  asking({ organization }),
  sending((requests, asked) => requests.organizations_show(asked), organizationLines)
).pipe(Command.withDescription("Show an organization: its plan, seats and licence"))

const setOrganization = Command.make(
  "set",
  asking({
    organization,
    name: orNull(flag("name", "The organization's new name")),
    plan: Flag.Literals("plan", Tier.literals).pipe(Flag.withDescription("What it is licensed for"), orNull),
    seats: orNull(seats),
    valid_until: Flag.Date("valid-until").pipe(Flag.withDescription("When the licence ends"), orNull),
    open_ended: Flag.Boolean("open-ended").pipe(
      Flag.withDescription("The licence has no end any more"),
      Flag.withDefault(false)
    ),
    billing: billingFlags,
    required: Flag.Boolean("require-second-factor").pipe(
      Flag.withDescription("Whether every admin needs a second factor to sign in to the console"),
      orNull
    ),
    zone: orNull(flag("time-zone", "The time zone in whose nights backups run, such as Europe/Berlin; UTC at first"))
  }),
  sending((requests, { billing, required, zone, ...asked }) =>
    requests.organizations_set({
      ...asked,
      billing: billingInput(billing),
      ...(required === null ? {} : { require_second_factor: required }),
      ...(zone === null ? {} : { time_zone: zone })
    }), organizationLines)
).pipe(
  Command.withDescription(
    "Change an organization's name, plan, seats, licences, billing or time zone; what no flag names stays"
  ),
  Output.examples(
    ["organizations set acme --seats 50", "Give it more seats"],
    [
      "organizations set acme --valid-until 2027-12-31",
      "End its licence"
    ],
    ["organizations set acme --time-zone Europe/Berlin", "Run its backups in the nights there"],
    [
      "organizations set acme --licensed-by subscription --billing-state active --period annual",
      "Bill it from now on"
    ]
  )
)

/** A command that changes the status of an organization. */
const changeStatus = (act: typeof Organizations.changeStatus.input.Type["act"], description: string) =>
  Command.make(
    act,
    asking({ organization }),
    sending((requests, asked) => requests.organizations_change_status({ ...asked, act }), organizationLines)
  ).pipe(Command.withDescription(description))

/** A command that places the legal hold on an archive, or releases it. */
const holdArchive = (name: string, held: boolean, description: string) =>
  Command.make(
    name,
    asking({ organization }),
    sending((requests, asked) => requests.organizations_hold({ ...asked, held }), organizationLines)
  ).pipe(Command.withDescription(description))

export const organizations = Command.make("organizations").pipe(Command.withSubcommands([
  createOrganization,
  transferOwnership,
  listOrganizations,
  showOrganization,
  setOrganization,
  changeStatus("suspend", "Suspend an organization: it is not protected until it is activated; everything is kept"),
  changeStatus("activate", "Activate an organization that is pending or suspended"),
  changeStatus("close", "Close an organization: no operation answers any more; everything is kept"),
  changeStatus("reopen", "Open an organization again, within 30 days after it was closed"),
  holdArchive("hold", true, "Place a legal hold: nothing of the archive is deleted, by anyone, until it is released"),
  holdArchive("release-hold", false, "Release the legal hold; holds of the organization's own admins stay"),
  identityProvider
]))
