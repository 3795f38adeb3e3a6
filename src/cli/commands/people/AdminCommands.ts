/** The commands that make admins and change what they may do. */
import { Effect, Option, Redacted, Stdio, Stream } from "effect"
import { Command, Flag, Prompt } from "effect/cli"
import { Role } from "../../../domain/people/Access.ts"
import { invitationLink, resetLink } from "../../../ports/signin/ConsoleAddress.ts"
import { common, email, organization, run } from "../DatabaseCommand.ts"
import * as Output from "../Output.ts"

const createAdmin = Command.make("create", {
  ...common,
  organization,
  email,
  role: Flag.Literals("role", Role.literals).pipe(Flag.withDescription("What the admin may do")),
  name: Flag.String("name").pipe(Flag.withDescription("The admin's name"), Flag.optional),
  archiveAccess: Flag.Boolean("archive-access").pipe(
    Flag.withDescription("Whether an admin of role admin reads the archive"),
    Flag.withDefault(false)
  )
}, (input) =>
  Effect.gen(function*() {
    const answer = yield* run(input, (requests) =>
      requests.admins_create({
        organization: input.organization,
        email: input.email,
        role: input.role,
        name: Option.getOrNull(input.name),
        archive_access: input.archiveAccess
      }))
    yield* Output.print(input.json, answer, () => [
      `Created the ${input.role} ${answer.email} of ${answer.organization}; they can sign in once they have a password.`
    ])
  })).pipe(Command.withDescription("Make an admin of an organization"))

/** The password from the prompt on a terminal, else the first line of standard input; never from an argument. */
const readPassword = Effect.gen(function*() {
  if (process.stdin.isTTY) return yield* Prompt.run(Prompt.Password({ message: "New password" }))
  const stdio = yield* Stdio.Stdio
  const text = yield* Stream.mkString(Stream.decodeText(stdio.stdin))
  return Redacted.make(text.split(/\r?\n/, 1)[0] ?? "")
})

const setPassword = Command.make("set-password", { ...common, organization, email }, (input) =>
  Effect.gen(function*() {
    const password = yield* readPassword
    const answer = yield* run(input, (requests) =>
      requests.admins_set_password({
        organization: input.organization,
        email: input.email,
        password
      }))
    yield* Output.print(input.json, answer, () => [
      `Set the password of ${answer.email}. Ended: ${answer.ended.api_keys} API keys, ${answer.ended.connections} connected applications, ${answer.ended.sessions} console sessions.`
    ])
  })).pipe(
    Command.withDescription("Set an admin's console password, by prompt or standard input"),
    Command.withExamples([
      { command: "security-console admins set-password acme olivia@acme.example", description: "By prompt" },
      {
        command: "security-console admins set-password acme olivia@acme.example < password.txt",
        description: "From the first line of a file"
      }
    ])
  )

const resetFactor = Command.make("reset-factor", { ...common, organization, email }, (input) =>
  Effect.gen(function*() {
    const answer = yield* run(
      input,
      (requests) => requests.admins_reset_factor({ organization: input.organization, email: input.email })
    )
    yield* Output.print(input.json, answer, () => [
      answer.factors === 0
        ? `${answer.email} has no second factor.`
        : `Took the second factors of ${answer.email} away, with the recovery codes. Ended: ${answer.sessions} console sessions.`
    ])
  })).pipe(
    Command.withDescription("Take an admin's second factors away, because they are lost; make sure first who asks")
  )

const setDisabled = (name: "disable" | "enable", done: string) =>
  Command.make(name, { ...common, organization, email }, (input) =>
    Effect.gen(function*() {
      const answer = yield* run(input, (requests) =>
        requests[`admins_${name}`]({ organization: input.organization, email: input.email }))
      yield* Output.print(input.json, answer, () => [`${answer.email} ${done}`])
    }))

const forLink = {
  ...common,
  organization,
  email,
  consoleUrl: Flag.String("console-url").pipe(
    Flag.withDescription(
      "Address of the console in the link [what the running service, or CONSOLE_BASE_URL, says]"
    ),
    Flag.map((url) => url.replace(/\/+$/, "")),
    Flag.optional
  )
}

/** The request for a link, with the address from the flag. */
const linkInput = (
  { consoleUrl, email, organization }: {
    readonly consoleUrl: Option.Option<string>
    readonly email: string
    readonly organization: string
  }
) => ({ organization, email, console_url: Option.getOrNull(consoleUrl) })

const invitation = Command.make("invitation", forLink, (input) =>
  Effect.gen(function*() {
    const { console_url, token, ...answer } = yield* run(
      input,
      (requests) => requests.admins_invitation(linkInput(input))
    )
    const link = Redacted.value(invitationLink(console_url, token))
    yield* Output.print(input.json, { ...answer, link }, () => [
      `A new invitation of ${answer.email}, good until ${answer.expires_at.toISOString()}; the one before has stopped:`,
      link
    ])
  })).pipe(
    Command.withDescription("Make a new invitation link of an admin who has not joined, and print it"),
    Command.withExamples([{
      command: "security-console admins invitation acme ada@acme.example",
      description: "Where no mail is sent"
    }])
  )

const passwordLink = Command.make("password-link", forLink, (input) =>
  Effect.gen(function*() {
    const { console_url, token, ...answer } = yield* run(
      input,
      (requests) => requests.admins_password_link(linkInput(input))
    )
    const link = Redacted.value(resetLink(console_url, token))
    yield* Output.print(input.json, { ...answer, link }, () => [
      `${answer.email} chooses a new password by this link, which works once, until ${answer.expires_at.toISOString()}:`,
      link
    ])
  })).pipe(
    Command.withDescription(
      "Make a link by which an admin who has forgotten the password chooses another, and print it"
    ),
    Command.withExamples([{
      command: "security-console admins password-link acme ada@acme.example",
      description: "Where no mail is sent"
    }])
  )

/** The commands that make admins and change what they may do. */
export const adminCommands = [
  createAdmin,
  setPassword,
  resetFactor,
  setDisabled("disable", "is disabled: their credentials no longer work.").pipe(
    Command.withDescription("Disable an admin: their credentials stop at once")
  ),
  setDisabled("enable", "is enabled: their credentials work again.").pipe(
    Command.withDescription("Enable a disabled admin again")
  ),
  invitation,
  passwordLink
] as const
