/** The commands that make an organization, and hand it over. */
import { Effect, Option } from "effect"
import { Argument, Command, Flag } from "effect/cli"
import { Tier } from "../../../domain/organization/Organization.ts"
import { common, email, organization, run } from "../DatabaseCommand.ts"
import * as Output from "../Output.ts"

/** Makes an organization. */
export const createOrganization = Command.make("create", {
  ...common,
  id: Argument.String("id").pipe(Argument.withDescription("What admins type at sign-in, such as acme")),
  name: Flag.String("name").pipe(Flag.withDescription("The organization's name")),
  owner: Flag.String("owner").pipe(Flag.withDescription("The owner's email address")),
  plan: Flag.Literals("plan", Tier.literals).pipe(
    Flag.withDescription("What it is licensed for, by agreement"),
    Flag.withDefault<Tier>("governance")
  ),
  seats: Flag.Int("seats").pipe(Flag.withDescription("How many accounts it may protect"), Flag.withDefault(25)),
  validUntil: Flag.Date("valid-until").pipe(
    Flag.withDescription("When the licence ends; open-ended by default"),
    Flag.optional
  )
}, (input) =>
  Effect.gen(function*() {
    const answer = yield* run(input, (requests) =>
      requests.organizations_create({
        id: input.id,
        name: input.name,
        owner: input.owner,
        plan: input.plan,
        seats: input.seats,
        valid_until: Option.getOrNull(input.validUntil)
      }))
    yield* Output.print(input.json, answer, () => [
      `Created ${answer.organization}, owned by ${answer.owner}. Next, the owner's password for the console, and a key:`,
      "",
      Output.ownerCommands(answer.organization, answer.owner, Option.isNone(input.databaseUrl) ? input.data : null)
    ])
  })).pipe(
    Command.withDescription("Make an organization, licensed by agreement, with its owner"),
    Command.withExamples([{
      command: "security-console organizations create acme --name \"Acme\" --owner olivia@acme.example",
      description: "Make one with 25 seats"
    }])
  )

/** Hands an organization over, also where its owner is gone. */
export const transferOwnership = Command.make(
  "transfer-ownership",
  { ...common, organization, email },
  (input) =>
    Effect.gen(function*() {
      const answer = yield* run(
        input,
        (requests) =>
          requests.organizations_transfer_ownership({ organization: input.organization, email: input.email })
      )
      yield* Output.print(input.json, answer, () => [
        `${answer.email} owns ${answer.organization} from now on; ${answer.from ?? "nobody"} did before.`
      ])
    })
).pipe(Command.withDescription("Make an active superadmin the owner of the organization"))
