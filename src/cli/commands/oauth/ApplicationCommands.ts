/** The commands for the applications that admins may connect. */
import { Argument, Command } from "effect/cli"
import type * as Applications from "../../../operator/oauth/Applications.ts"
import { argument, asking, organization, sending } from "../OperatorCommand.ts"

const application = argument("application", "The host that its codes go to, or its own https:// address")

const required = Argument.Literals("required", ["on", "off"]).pipe(
  Argument.withDescription("Whether others than owner and superadmins connect approved applications alone")
)

const lines = ({ approval_required, approved }: typeof Applications.listApplications.output.Type) => [
  approval_required
    ? "Only owner and superadmins connect an application that is not approved."
    : "Every admin may connect any application.",
  ...approved.map((name) => `${name} is approved.`)
]

export const applications = Command.make("applications").pipe(
  Command.withSubcommands([
    Command.make(
      "list",
      asking({ organization }),
      sending((requests, asked) => requests.applications_list(asked), lines)
    ).pipe(Command.withDescription("List the applications that are approved")),
    Command.make(
      "approval",
      asking({ organization, required }),
      sending(
        (requests, { organization, required }) =>
          requests.applications_approval({ organization, required: required === "on" }),
        lines
      )
    ).pipe(Command.withDescription("Say whether applications have to be approved")),
    Command.make(
      "approve",
      asking({ organization, application }),
      sending((requests, asked) => requests.applications_approve(asked), lines)
    ).pipe(Command.withDescription("Let every admin connect an application")),
    Command.make(
      "withdraw",
      asking({ organization, application }),
      sending((requests, asked) => requests.applications_withdraw(asked), lines)
    ).pipe(Command.withDescription("Take an approval back; connections that exist stay"))
  ])
)
