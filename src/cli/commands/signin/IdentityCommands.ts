/** The commands for an organization's identity provider and its links to admins. */
import { Effect, Redacted } from "effect"
import { Command, Flag } from "effect/cli"
import * as fs from "node:fs"
import { callbackPath, providerPath, SecondFactorBy } from "../../../domain/signin/IdentityProvider.ts"
import type * as IdentityProviders from "../../../operator/signin/IdentityProviders.ts"
import { Refused } from "../../../operator/UseCase.ts"
import { argument, asking, email, firstLine, flag, organization, orNull, sending } from "../OperatorCommand.ts"
import * as Output from "../Output.ts"

const onOff = (name: string, description: string) =>
  Flag.ChoiceWithValue(name, [["on", true], ["off", false]]).pipe(Flag.withDescription(description), orNull)

/** The first line of the file, or of standard input for `-`. */
const readSecret = (file: string) =>
  file === "-" ? firstLine : Effect.try({
    try: () => Redacted.make(fs.readFileSync(file, "utf8").split(/\r?\n/, 1)[0] ?? ""),
    catch: () => new Refused({ message: `${file} cannot be read.` })
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

const secondFactorFlag = Flag.Literals("second-factor", SecondFactorBy.literals).pipe(
  Flag.withDescription("Who asks for the second factor of those who come by it"),
  orNull
)

const maxAge = flag(
  "max-age",
  "How many minutes ago a person may have signed in there; 0 asks anew each time, any not at all"
).pipe(
  Flag.map((text) => text === "any" ? text : text.trim() === "" ? Number.NaN : Number(text)),
  orNull
)

const set = Command.make("set", {
  ...asking({
    organization,
    issuer: orNull(flag("issuer", "The issuer, exactly as its own documents name it")),
    client_id: orNull(flag("client-id", "What the console is called at the provider")),
    file: orNull(
      flag("client-secret-file", "A file with the secret that the console has there; - for standard input")
    ),
    required: onOff("required", "Whether everybody but the owner has to come by the provider"),
    second_factor: secondFactorFlag,
    private_network: onOff("private-network", "Whether it may be asked at private addresses"),
    max_age: maxAge
  })
}, ({ asked: { file, ...asked }, ...input }) =>
  Effect.gen(function*() {
    const client_secret = file === null ? null : yield* readSecret(file)
    const send = sending(
      (requests, all: typeof asked) => requests.identity_provider_set({ ...all, client_secret }),
      (answer, { organization }) => [
        ...lines(organization, answer),
        `Ended ${answer.ended.links} links and ${answer.ended.sessions} console sessions.`
      ]
    )
    yield* send({ ...input, asked })
  })).pipe(
    Command.withDescription("Connect an organization to its identity provider; what no flag names stays"),
    Output.examples([
      "organizations identity-provider set acme --issuer https://login.acme.example --client-id console --client-secret-file - < secret.txt",
      "With the secret from a file"
    ])
  )

const show = Command.make(
  "show",
  asking({ organization }),
  sending((requests, asked) => requests.identity_provider_show(asked), (found, { organization }) => [
    ...lines(organization, found),
    ...Output.table(
      ["ADMIN", "SUBJECT", "LINKED"],
      found.links.map((each) => [each.email, each.subject, Output.day(each.linked_at, "")])
    )
  ])
).pipe(Command.withDescription("Show an organization's identity provider and whom it knows; never the secret"))

const remove = Command.make(
  "remove",
  asking({ organization }),
  sending((requests, asked) => requests.identity_provider_remove(asked), ({ links, sessions }) => [
    `Removed it with ${links} links, and ended ${sessions} console sessions: passwords work again.`
  ])
).pipe(Command.withDescription("Disconnect an organization from its identity provider, with every link"))

export const identityProvider = Command.make("identity-provider").pipe(
  Command.withDescription("Connect an organization to its own identity provider"),
  Command.withSubcommands([set, show, remove])
)

const subject = argument(
  "subject",
  "What the provider calls the person in sub; no email address unless that is it"
)

const link = Command.make(
  "link-identity",
  asking({ organization, email, subject }),
  sending((requests, asked) => requests.admins_link_identity(asked), ({ email, issuer, subject }) => [
    `Whoever ${issuer} calls ${subject} signs in as ${email}.`
  ])
).pipe(Command.withDescription("Link an admin to a person at the organization's identity provider"))

const unlink = Command.make(
  "unlink-identity",
  asking({ organization, email }),
  sending((requests, asked) => requests.admins_unlink_identity(asked), ({ email, sessions }) => [
    `${email} is linked to nobody, and ${sessions} of their console sessions have ended.`
  ])
).pipe(Command.withDescription("Remove the link of an admin, and end their console sessions"))

export const identityCommands = [link, unlink] as const
