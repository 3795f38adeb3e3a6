/** The commands for an organization's identity provider and its links to admins. */
import { Effect, Option, Redacted, Stdio, Stream } from "effect"
import { Argument, Command, Flag } from "effect/cli"
import * as fs from "node:fs"
import { callbackPath, providerPath, SecondFactorBy } from "../../../domain/signin/IdentityProvider.ts"
import type * as IdentityProviders from "../../../operator/signin/IdentityProviders.ts"
import { Refused } from "../../../operator/UseCase.ts"
import { common, email, organization, run } from "../DatabaseCommand.ts"
import * as Output from "../Output.ts"

const onOff = (name: string, description: string) =>
  Flag.ChoiceWithValue(name, [["on", true], ["off", false]]).pipe(Flag.withDescription(description), Flag.optional)

/**
 * The first line of the file, or of standard input for `-`; never from an argument, which others on the machine see.
 */
const readSecret = Effect.fnUntraced(function*(file: string) {
  const text = file === "-"
    ? yield* Stream.mkString(Stream.decodeText((yield* Stdio.Stdio).stdin))
    : yield* Effect.try({
      try: () => fs.readFileSync(file, "utf8"),
      catch: () => new Refused({ message: `${file} cannot be read.` })
    })
  return Redacted.make(text.split(/\r?\n/, 1)[0] ?? "")
})

type Provider = Pick<
  typeof IdentityProviders.showProvider.output.Type,
  "issuer" | "client_id" | "required" | "second_factor" | "private_network" | "max_age_minutes" | "unlinked"
>

const secondFactor: Readonly<Record<SecondFactorBy, string>> = {
  console: "the console's own",
  claim: "the provider's where its token says mfa, else the console's own",
  provider: "the provider's, always"
}

const age = (minutes: number | null): string =>
  minutes === null
    ? "whenever the provider accepts"
    : minutes === 0
    ? "anew each time"
    : `${minutes} minutes ago at most`

const lines = (id: string, found: Provider): ReadonlyArray<string> => [
  ...Output.columns([
    ["Issuer", found.issuer],
    ["Client id", found.client_id],
    ["Required", found.required ? "yes: passwords and passkeys open sessions of the owner alone" : "no"],
    ["Second factor", secondFactor[found.second_factor]],
    ["Signed in there", age(found.max_age_minutes)],
    ["Private network", found.private_network ? "allowed" : "not asked"],
    ["Redirect URI", `<the console's address>${callbackPath(id)}`],
    ["Sign-in link", `<the console's address>${providerPath}?organization=${id}`]
  ]),
  ...(found.unlinked === 0
    ? []
    : [
      `${found.unlinked} admins are linked to nobody there${
        found.required ? " and cannot sign in" : ""
      }: admins link-identity links them.`
    ])
]

const set = Command.make("set", {
  ...common,
  organization,
  issuer: Flag.String("issuer").pipe(
    Flag.withDescription("The issuer, exactly as its own documents name it"),
    Flag.optional
  ),
  clientId: Flag.String("client-id").pipe(
    Flag.withDescription("What the console is called at the provider"),
    Flag.optional
  ),
  secretFile: Flag.String("client-secret-file").pipe(
    Flag.withDescription("A file with the secret that the console has there; - for standard input"),
    Flag.optional
  ),
  required: onOff("required", "Whether everybody but the owner has to come by the provider"),
  secondFactor: Flag.Literals("second-factor", SecondFactorBy.literals).pipe(
    Flag.withDescription("Who asks for the second factor of those who come by it"),
    Flag.optional
  ),
  privateNetwork: onOff("private-network", "Whether it may be asked at private addresses"),
  maxAge: Flag.String("max-age").pipe(
    Flag.withDescription(
      "How many minutes ago a person may have signed in there; 0 asks anew each time, any not at all"
    ),
    Flag.map((text) => text === "any" ? text : text.trim() === "" ? Number.NaN : Number(text)),
    Flag.optional
  )
}, (input) =>
  Effect.gen(function*() {
    const secret = Option.isNone(input.secretFile) ? null : yield* readSecret(input.secretFile.value)
    const answer = yield* run(input, (requests) =>
      requests.identity_provider_set({
        organization: input.organization,
        issuer: Option.getOrNull(input.issuer),
        client_id: Option.getOrNull(input.clientId),
        client_secret: secret,
        required: Option.getOrNull(input.required),
        second_factor: Option.getOrNull(input.secondFactor),
        private_network: Option.getOrNull(input.privateNetwork),
        max_age: Option.getOrNull(input.maxAge)
      }))
    yield* Output.print(input.json, answer, () => [
      ...lines(input.organization, answer),
      `Ended ${answer.ended.links} links and ${answer.ended.sessions} console sessions.`
    ])
  })).pipe(
    Command.withDescription("Connect an organization to its identity provider; what no flag names stays"),
    Command.withExamples([{
      command:
        "security-console organizations identity-provider set acme --issuer https://login.acme.example --client-id console --client-secret-file - < secret.txt",
      description: "With the secret from a file"
    }])
  )

const show = Command.make("show", { ...common, organization }, (input) =>
  Effect.gen(function*() {
    const found = yield* run(input, (requests) => requests.identity_provider_show({ organization: input.organization }))
    yield* Output.print(input.json, found, () => [
      ...lines(input.organization, found),
      ...Output.table(
        ["ADMIN", "SUBJECT", "LINKED"],
        found.links.map((each) => [each.email, each.subject, each.linked_at.toISOString().slice(0, 10)])
      )
    ])
  })).pipe(Command.withDescription("Show an organization's identity provider and whom it knows; never the secret"))

const remove = Command.make("remove", { ...common, organization }, (input) =>
  Effect.gen(function*() {
    const answer = yield* run(input, (requests) =>
      requests.identity_provider_remove({ organization: input.organization }))
    yield* Output.print(input.json, answer, () => [
      `Removed it with ${answer.links} links, and ended ${answer.sessions} console sessions: passwords work again.`
    ])
  })).pipe(Command.withDescription("Disconnect an organization from its identity provider, with every link"))

export const identityProvider = Command.make("identity-provider").pipe(
  Command.withDescription("Connect an organization to its own identity provider"),
  Command.withSubcommands([set, show, remove])
)

const link = Command.make("link-identity", {
  ...common,
  organization,
  email,
  subject: Argument.String("subject").pipe(
    Argument.withDescription("What the provider calls the person in sub; no email address unless that is it")
  )
}, (input) =>
  Effect.gen(function*() {
    const answer = yield* run(input, (requests) =>
      requests.admins_link_identity({ organization: input.organization, email: input.email, subject: input.subject }))
    yield* Output.print(input.json, answer, () => [
      `Whoever ${answer.issuer} calls ${answer.subject} signs in as ${answer.email}.`
    ])
  })).pipe(Command.withDescription("Link an admin to a person at the organization's identity provider"))

const unlink = Command.make("unlink-identity", { ...common, organization, email }, (input) =>
  Effect.gen(function*() {
    const answer = yield* run(input, (requests) =>
      requests.admins_unlink_identity({ organization: input.organization, email: input.email }))
    yield* Output.print(input.json, answer, () => [
      `${answer.email} is linked to nobody, and ${answer.sessions} of their console sessions have ended.`
    ])
  })).pipe(Command.withDescription("Remove the link of an admin, and end their console sessions"))

export const identityCommands = [link, unlink] as const
