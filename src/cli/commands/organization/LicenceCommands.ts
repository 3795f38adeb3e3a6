/** The commands about accounts, their licences and passwords, and links that hold seats. */
import { Effect, Redacted } from "effect"
import { Argument, Command } from "effect/cli"
import { Tier } from "../../../domain/organization/Organization.ts"
import type * as Accounts from "../../../operator/accounts/Accounts.ts"
import { common, organization, run } from "../DatabaseCommand.ts"
import * as Output from "../Output.ts"

const accountsPerRequest = 500

const listAccounts = Command.make("list", { ...common, organization }, (input) =>
  Effect.gen(function*() {
    const accounts = yield* run(input, (requests) =>
      Effect.gen(function*() {
        const all: Array<typeof Accounts.listAccounts.output.Type["accounts"][number]> = []
        while (true) {
          const asked = { organization: input.organization, after: all.at(-1)?.id ?? null, limit: accountsPerRequest }
          const page = yield* requests.accounts_list(asked)
          all.push(...page.accounts)
          if (!page.has_more) return all
        }
      }))
    yield* Output.print(input.json, { organization: input.organization, accounts }, () =>
      accounts.length === 0
        ? [`${input.organization} has no account.`]
        : Output.table(
          ["ACCOUNT ID", "NAME", "STATUS", "TIER"],
          accounts.map((each) => [each.id, each.name, each.status, each.licence_tier ?? "none"])
        ))
  })).pipe(Command.withDescription("List the accounts of an organization, by name"))

const setTier = Command.make("set-tier", {
  ...common,
  organization,
  account: Argument.String("account-id").pipe(Argument.withDescription("The account's id")),
  tier: Argument.Literals("tier", Tier.literals).pipe(Argument.withDescription("What it is licensed for from now on"))
}, (input) =>
  Effect.gen(function*() {
    const answer = yield* run(input, (requests) =>
      requests.accounts_set_tier({ organization: input.organization, account_id: input.account, tier: input.tier }))
    yield* Output.print(input.json, answer, () => [
      answer.from === answer.tier
        ? `${answer.account_id} has ${answer.tier} already.`
        : `${answer.account_id} has ${answer.tier} now, ${answer.from ?? "no tier"} before.`
    ])
  })).pipe(
    Command.withDescription("Change the tier of an account's licence"),
    Command.withExamples([{
      command: "security-console accounts set-tier acme 01a1ffd4-bd28-707e-baab-23739ca39709 archive",
      description: "License an account for the archive"
    }])
  )

const reveal = Command.make("reveal", {
  ...common,
  organization,
  account: Argument.String("account-id").pipe(Argument.withDescription("The account's id"))
}, (input) =>
  Effect.gen(function*() {
    const { account_id, password } = yield* run(input, (requests) =>
      requests.accounts_reveal({ organization: input.organization, account_id: input.account }))
    const plain = Redacted.value(password)
    yield* Output.print(input.json, { organization: input.organization, account_id, password: plain }, () => [plain])
  })).pipe(
    Command.withDescription(
      "Print the 2FA password that the service holds of an account; release its takeover lock before handing it out"
    ),
    Command.withExamples([{
      command: "security-console accounts reveal acme 01a1ffd4-bd28-707e-baab-23739ca39709",
      description: "Print the password"
    }])
  )

export const accounts = Command.make("accounts").pipe(Command.withSubcommands([listAccounts, setTier, reveal]))

const listLinks = Command.make("list", { ...common, organization }, (input) =>
  Effect.gen(function*() {
    const answer = yield* run(input, (requests) => requests.sign_up_links_list({ organization: input.organization }))
    yield* Output.print(input.json, answer, () => [
      `${answer.reserved} of the seats of ${input.organization} are held by sign-up links.`,
      ...(answer.links.length === 0
        ? []
        : Output.table(["LINK ID", "MADE"], answer.links.map((each) => [each.id, each.created_at.toISOString()])))
    ])
  })).pipe(Command.withDescription("List the sign-up links that nobody has used, the newest first"))

const revokeLink = Command.make("revoke", {
  ...common,
  organization,
  link: Argument.String("link-id").pipe(Argument.withDescription("The link's id"))
}, (input) =>
  Effect.gen(function*() {
    const answer = yield* run(input, (requests) =>
      requests.sign_up_links_revoke({ organization: input.organization, link_id: input.link }))
    yield* Output.print(input.json, answer, () => [
      `Revoked ${answer.link_id}: ${input.organization} has ${answer.free_seats} free seats.`
    ])
  })).pipe(Command.withDescription("Revoke a sign-up link that nobody has used, and free its seat"))

export const signUpLinks = Command.make("sign-up-links").pipe(Command.withSubcommands([listLinks, revokeLink]))
