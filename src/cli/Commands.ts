/** The commands that make and change organizations, admins and keys, each with one request. */
import { Duration, Effect, Option, Redacted, Schema, Stdio, Stream } from "effect"
import { Argument, Command, Flag, Prompt } from "effect/cli"
import * as fs from "node:fs"
import { Refused } from "../administration/UseCase.ts"
import { Role, Scope } from "../domain/Access.ts"
import { defaultApiKeyExpiry } from "../domain/Limits.ts"
import { Tier } from "../domain/Organization.ts"
import { invitationLink, resetLink } from "../ports/ConsoleAddress.ts"
import type { Asked, CommandClient } from "./ControlClient.ts"
import type { Doing } from "./Local.ts"
import * as Output from "./Output.ts"
import * as Settings from "./Settings.ts"

/** Sends a request to where the database is; both sides are loaded when they are needed. */
export const run = Effect.fnUntraced(function*<A>(
  settings: Settings.Database,
  asked: Asked<CommandClient, A>,
  doing: Doing = {}
) {
  const { invoke } = yield* Effect.promise(() => import("./ControlClient.ts"))
  const here = Effect.flatMap(
    Effect.promise(() => import("./Local.ts")),
    ({ commands }) => commands(settings, doing)
  )
  return yield* invoke(settings, asked, here)
})

/** The settings of every command that works on a database. */
export const common = { ...Settings.database, json: Output.json }

/** The arguments that name an organization and one of its admins. */
export const organization = Argument.String("organization").pipe(Argument.withDescription("The organization's id"))
export const email = Argument.String("email").pipe(Argument.withDescription("The admin's address"))

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
      `Created ${answer.organization}, owned by ${answer.owner}.`,
      `Next: security-console keys create ${answer.organization} ${answer.owner} --label "First key" --scopes org:read`
    ])
  })).pipe(
    Command.withDescription("Make an organization, licensed by agreement, with its owner"),
    Command.withExamples([{
      command: "security-console organizations create acme --name \"Acme\" --owner olivia@acme.example",
      description: "Make one with 25 seats"
    }])
  )

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
    Flag.withDescription("Where people reach the console, such as https://security.example.com"),
    Flag.map((url) => url.replace(/\/+$/, ""))
  )
}

const invitation = Command.make("invitation", forLink, (input) =>
  Effect.gen(function*() {
    const { token, ...answer } = yield* run(input, (requests) =>
      requests.admins_invitation({ organization: input.organization, email: input.email }))
    const link = Redacted.value(invitationLink(input.consoleUrl, token))
    yield* Output.print(input.json, { ...answer, link }, () => [
      `A new invitation of ${answer.email}, good until ${answer.expires_at.toISOString()}; the one before has stopped:`,
      link
    ])
  })).pipe(
    Command.withDescription("Make a new invitation link of an admin who has not joined, and print it"),
    Command.withExamples([{
      command: "security-console admins invitation acme ada@acme.example --console-url https://security.example.com",
      description: "Where no mail is sent"
    }])
  )

const passwordLink = Command.make("password-link", forLink, (input) =>
  Effect.gen(function*() {
    const { token, ...answer } = yield* run(input, (requests) =>
      requests.admins_password_link({ organization: input.organization, email: input.email }))
    const link = Redacted.value(resetLink(input.consoleUrl, token))
    yield* Output.print(input.json, { ...answer, link }, () => [
      `${answer.email} chooses a new password by this link, which works once, until ${answer.expires_at.toISOString()}:`,
      link
    ])
  })).pipe(
    Command.withDescription(
      "Make a link by which an admin who has forgotten the password chooses another, and print it"
    ),
    Command.withExamples([{
      command: "security-console admins password-link acme ada@acme.example --console-url https://security.example.com",
      description: "Where no mail is sent"
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

const scopes = Flag.String("scopes").pipe(
  Flag.withDescription(`What the key may be used for, separated by commas: ${Scope.literals.join(", ")}`),
  Flag.filterMap(
    (text) => {
      const [first, ...rest] = text.split(",").map((part) => part.trim())
      const all = [first, ...rest].filter(Schema.is(Scope))
      const [head, ...others] = all
      return head === undefined || all.length !== rest.length + 1
        ? Option.none()
        : Option.some([head, ...others] as const)
    },
    () => `some of ${Scope.literals.join(", ")}, separated by commas`
  )
)

const createKey = Command.make("create", {
  ...common,
  organization,
  email,
  label: Flag.String("label").pipe(Flag.withDescription("What the key is for")),
  scopes,
  expiresInDays: Flag.Int("expires-in-days").pipe(
    Flag.withDescription(`How long it works; ${Duration.toDays(defaultApiKeyExpiry)} days by default`),
    Flag.optional
  ),
  never: Flag.Boolean("never-expires").pipe(
    Flag.withDescription("The key works until it is revoked"),
    Flag.withDefault(false)
  )
}, (input) =>
  Effect.gen(function*() {
    if (input.never && Option.isSome(input.expiresInDays)) {
      return yield* new Refused({ message: "--never-expires and --expires-in-days contradict each other: give one." })
    }
    const answer = yield* run(input, (requests) =>
      requests.keys_create({
        organization: input.organization,
        email: input.email,
        label: input.label,
        scopes: input.scopes,
        expires_in_days: input.never
          ? null
          : Option.getOrElse(input.expiresInDays, () => Duration.toDays(defaultApiKeyExpiry))
      }))
    const key = Redacted.value(answer.key)
    yield* Output.print(input.json, { ...answer, key }, () => [
      key,
      `Key ${answer.key_id} of ${input.email}; it is shown this once, and works ${
        answer.expires_at === null ? "until it is revoked" : `until ${answer.expires_at.toISOString()}`
      }.`
    ])
  })).pipe(
    Command.withDescription("Make an API key of an admin, and show it once"),
    Command.withExamples([{
      command: "security-console keys create acme olivia@acme.example --label \"Export\" --scopes org:read",
      description: "Make a key that reads, for 90 days"
    }])
  )

const revokeKey = Command.make("revoke", {
  ...common,
  organization,
  keyId: Argument.String("key-id").pipe(Argument.withDescription("The key's id"))
}, (input) =>
  Effect.gen(function*() {
    const answer = yield* run(input, (requests) =>
      requests.keys_revoke({
        organization: input.organization,
        key_id: input.keyId
      }))
    yield* Output.print(input.json, answer, () => [`Revoked ${answer.key_id}.`])
  })).pipe(Command.withDescription("Revoke an API key"))

/** The commands that make and end keys. */
export const keyCommands = [createKey, revokeKey] as const

const readJson = (file: string) =>
  Effect.try({
    try: (): Schema.Json => JSON.parse(fs.readFileSync(file, "utf8")),
    catch: (cause) =>
      new Refused({
        message: cause instanceof SyntaxError ? `${file} is not JSON: ${cause.message}` : `${file} cannot be read.`
      })
  })

/** Loads a seed file. */
export const seed = Command.make("seed", {
  ...Settings.database,
  file: Argument.String("file").pipe(Argument.withDescription("A seed file; seed.schema.json describes it"))
}, (input) =>
  Effect.gen(function*() {
    yield* Output.progress(`Loading ${input.file}`)
    const seed = yield* readJson(input.file)
    const answer = yield* run(input, (requests) => requests.seed({ seed }), { makes: true }).pipe(
      Effect.ensuring(Output.progressDone)
    )
    const keys = answer.keys.map((made) => ({ ...made, key: Redacted.value(made.key) }))
    yield* Output.print(true, { ...answer, keys }, () => [])
  }))
