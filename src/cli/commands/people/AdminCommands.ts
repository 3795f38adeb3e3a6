/** The commands about admins. */
import { Effect, Redacted } from "effect"
import { Command, Flag } from "effect/cli"
import { Role } from "../../../domain/people/Access.ts"
import type * as Admins from "../../../operator/people/Admins.ts"
import { invitationLink, resetLink } from "../../../ports/signin/ConsoleAddress.ts"
import { asking, email, flag, organization, orNull, passwordInput, sending } from "../OperatorCommand.ts"
import * as Output from "../Output.ts"
import { identityCommands } from "../signin/IdentityCommands.ts"

const role = Flag.Literals("role", Role.literals)

const createAdmin = Command.make(
  "create",
  asking({
    organization,
    email,
    role: Flag.withDescription(role, "What the admin may do"),
    name: orNull(flag("name", "The admin's name")),
    archive_access: Flag.Boolean("archive-access").pipe(
      Flag.withDescription("Whether an admin of role admin reads the archive"),
      Flag.withDefault(false)
    )
  }),
  sending((requests, asked) => requests.admins_create(asked), ({ email, organization }, { role }) => [
    `Created the ${role} ${email} of ${organization}; they can sign in once they have a password.`
  ])
).pipe(Command.withDescription("Make an admin of an organization"))

const setPassword = Command.make(
  "set-password",
  asking({ organization, email }),
  (input) =>
    Effect.flatMap(passwordInput("New password"), (password) => {
      const send = sending(
        (requests, asked: typeof input.asked) => requests.admins_set_password({ ...asked, password }),
        ({ email, ended }) => [
          `Set the password of ${email}. Ended: ${ended.api_keys} API keys, ${ended.connections} connected applications, ${ended.sessions} console sessions.`
        ]
      )
      return send(input)
    })
).pipe(
  Command.withDescription("Set an admin's console password, by prompt or standard input"),
  Output.examples(["admins set-password acme olivia@acme.example", "By prompt"], [
    "admins set-password acme olivia@acme.example < password.txt",
    "From the first line of a file"
  ])
)

const resetFactor = Command.make(
  "reset-factor",
  asking({ organization, email }),
  sending((requests, asked) => requests.admins_reset_factor(asked), ({ email, factors, sessions }) => [
    factors === 0
      ? `${email} has no second factor.`
      : `Took the second factors of ${email} away, with the recovery codes. Ended: ${sessions} console sessions.`
  ])
).pipe(
  Command.withDescription("Take an admin's second factors away, because they are lost; make sure first who asks")
)

const disable = Command.make(
  "disable",
  asking({ organization, email }),
  sending(
    (requests, asked) => requests.admins_disable(asked),
    ({ email }) => [`${email} is disabled: their credentials no longer work.`]
  )
).pipe(Command.withDescription("Disable an admin: their credentials stop at once"))

const enable = Command.make(
  "enable",
  asking({ organization, email }),
  sending(
    (requests, asked) => requests.admins_enable(asked),
    ({ email }) => [`${email} is enabled: their credentials work again.`]
  )
).pipe(Command.withDescription("Enable a disabled admin again"))

const console_url = flag(
  "console-url",
  "Address of the console in the link [what the running service, or CONSOLE_BASE_URL, says]"
).pipe(
  Flag.map((url) => url.replace(/\/+$/, "")),
  orNull
)

const invitation = Command.make(
  "invitation",
  asking({ organization, email, console_url }),
  sending((requests, asked) =>
    Effect.map(requests.admins_invitation(asked), ({ console_url, token, ...answer }) => ({
      ...answer,
      link: Redacted.value(invitationLink(console_url, token))
    })), ({ email, expires_at, link }) => [
    `An invitation of ${email}, good until ${expires_at.toISOString()}; any link made before has stopped:`,
    link
  ])
).pipe(
  Command.withDescription("Make a new invitation link of an admin who has not joined, and print it"),
  Output.examples(["admins invitation acme ada@acme.example", "Where no mail is sent"])
)

const passwordLink = Command.make(
  "password-link",
  asking({ organization, email, console_url }),
  sending(
    (requests, asked) =>
      Effect.map(requests.admins_password_link(asked), ({ console_url, token, ...answer }) => ({
        ...answer,
        link: Redacted.value(resetLink(console_url, token))
      })),
    ({ email, expires_at, link }) => [
      `${email} chooses a new password by this link, which works once, until ${expires_at.toISOString()}:`,
      link
    ]
  )
).pipe(
  Command.withDescription("Make a link by which an admin who has forgotten the password chooses another, and print it"),
  Output.examples(["admins password-link acme ada@acme.example", "Where no mail is sent"])
)

type Admin = typeof Admins.showAdmin.output.Type

const adminLines = (found: Admin): ReadonlyArray<string> =>
  Output.columns([
    ["Email", found.email],
    ["Name", found.name ?? "none"],
    ["Role", found.role],
    ["State", found.state === "disabled" ? `disabled since ${Output.minute(found.disabled_at)}` : found.state],
    ["Password", found.has_password ? "set" : "none: admins set-password gives one"],
    ...(found.role === "admin" ? [["Reads the archive", found.archive_access ? "yes" : "no"]] : []),
    ["Created", Output.minute(found.created_at)],
    ["Id", found.id]
  ])

const listAdmins = Command.make(
  "list",
  asking({ organization }),
  sending((requests, asked) => requests.admins_list(asked), ({ admins }) =>
    Output.table(
      ["EMAIL", "NAME", "ROLE", "STATE", "PASSWORD"],
      admins.map((each) => [each.email, each.name ?? "", each.role, each.state, each.has_password ? "set" : "none"])
    ))
).pipe(Command.withDescription("List the admins of an organization"))

const showAdmin = Command.make(
  "show",
  asking({ organization, email }),
  sending((requests, asked) => requests.admins_show(asked), adminLines)
).pipe(Command.withDescription("Show an admin"))

const setAdmin = Command.make(
  "set",
  asking({
    organization,
    email,
    name: orNull(flag("name", "The admin's new name")),
    role: orNull(Flag.withDescription(role, "What the admin may do from now on; the owner's stays"))
  }),
  sending((requests, asked) => requests.admins_set(asked), adminLines)
).pipe(
  Command.withDescription("Change an admin's name or role; their credentials follow the role at once"),
  Output.examples(["admins set acme ada@acme.example --role superadmin", "Promote an admin"])
)

export const admins = Command.make("admins").pipe(Command.withSubcommands([
  createAdmin,
  setPassword,
  resetFactor,
  disable,
  enable,
  invitation,
  passwordLink,
  listAdmins,
  showAdmin,
  setAdmin,
  ...identityCommands
]))
