/** The commands for the applications that admins may connect. */
import { Effect } from "effect"
import { Argument, Command } from "effect/cli"
import type * as Applications from "../../../operator/oauth/Applications.ts"
import { common, organization, run } from "../DatabaseCommand.ts"
import * as Output from "../Output.ts"

const application = Argument.String("application").pipe(
  Argument.withDescription("The host that its codes go to, or its own https:// address")
)

const printApplications = (json: boolean, answer: typeof Applications.listApplications.output.Type) =>
  Output.print(json, answer, () => [
    answer.approval_required
      ? "Only owner and superadmins connect an application that is not approved."
      : "Every admin may connect any application.",
    ...answer.approved.map((name) => `${name} is approved.`)
  ])

export const applications = Command.make("applications").pipe(
  Command.withSubcommands([
    Command.make("list", { ...common, organization }, (input) =>
      Effect.flatMap(
        run(input, (requests) => requests.applications_list({ organization: input.organization })),
        (answer) => printApplications(input.json, answer)
      )).pipe(Command.withDescription("List the applications that are approved")),
    Command.make("approval", {
      ...common,
      organization,
      required: Argument.Literals("required", ["on", "off"]).pipe(
        Argument.withDescription("Whether others than owner and superadmins connect approved applications alone")
      )
    }, (input) =>
      Effect.flatMap(
        run(input, (requests) =>
          requests.applications_approval({
            organization: input.organization,
            required: input.required === "on"
          })),
        (answer) => printApplications(input.json, answer)
      )).pipe(Command.withDescription("Say whether applications have to be approved")),
    Command.make("approve", { ...common, organization, application }, (input) =>
      Effect.flatMap(
        run(input, (requests) =>
          requests.applications_approve({
            organization: input.organization,
            application: input.application
          })),
        (answer) => printApplications(input.json, answer)
      )).pipe(Command.withDescription("Let every admin connect an application")),
    Command.make("withdraw", { ...common, organization, application }, (input) =>
      Effect.flatMap(
        run(input, (requests) =>
          requests.applications_withdraw({
            organization: input.organization,
            application: input.application
          })),
        (answer) => printApplications(input.json, answer)
      )).pipe(Command.withDescription("Take an approval back; connections that exist stay"))
  ])
)
