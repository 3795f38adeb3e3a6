/** The commands about accounts, their licences and passwords, and links that hold seats. */
import { Clock, Effect, Redacted } from "effect"
import { Argument, Command, Flag } from "effect/cli"
import { Tier } from "../../../domain/organization/Organization.ts"
import type * as Accounts from "../../../operator/accounts/Accounts.ts"
import type { CommandClient } from "../../process/ControlClient.ts"
import { argument, asking, organization, orNull, sending } from "../OperatorCommand.ts"
import * as Output from "../Output.ts"

const account_id = argument("account-id", "The account's id")

const accountsPerRequest = 500

type ListedAccount = typeof Accounts.listAccounts.output.Type["accounts"][number]

/** Every account, page by page. */
const readAccounts = Effect.fnUntraced(function*(requests: CommandClient, organization: string) {
  const accounts: Array<ListedAccount> = []
  while (true) {
    const after = accounts.at(-1)?.id ?? null
    const page = yield* requests.accounts_list({ organization, after, limit: accountsPerRequest })
    accounts.push(...page.accounts)
    if (!page.has_more) return { organization, accounts }
  }
})

const listAccounts = Command.make(
  "list",
  asking({ organization }),
  sending(
    (requests, asked) => readAccounts(requests, asked.organization),
    ({ accounts, organization }) =>
      accounts.length === 0
        ? [`${organization} has no account.`]
        : Output.table(
          ["ACCOUNT ID", "NAME", "STATUS", "TIER"],
          accounts.map((each) => [each.id, each.name, each.status, each.licence_tier ?? "none"])
        )
  )
).pipe(Command.withDescription("List the accounts of an organization, by name"))

const tier = Argument.Literals("tier", Tier.literals).pipe(
  Argument.withDescription("What it is licensed for from now on")
)

const setTier = Command.make(
  "set-tier",
  asking({ organization, account_id, tier }),
  sending((requests, asked) => requests.accounts_set_tier(asked), (answer) => [
    answer.from === answer.tier
      ? `${answer.account_id} has ${answer.tier} already.`
      : `${answer.account_id} has ${answer.tier} now, ${answer.from ?? "no tier"} before.`
  ])
).pipe(
  Command.withDescription("Change the tier of an account's licence"),
  Output.examples([
    "accounts set-tier acme 01a1ffd4-bd28-707e-baab-23739ca39709 archive",
    "License an account for the archive"
  ])
)

const setConsent = Command.make(
  "set-consent",
  asking({
    organization,
    account_id,
    at: Flag.Date("at").pipe(Flag.withDescription("When the holder agreed; now by default"), orNull),
    withdrawn: Flag.Boolean("withdrawn").pipe(
      Flag.withDescription("The holder does not agree, or no longer"),
      Flag.withDefault(false)
    )
  }),
  sending(
    (requests, { at, withdrawn, ...asked }) =>
      Effect.flatMap(
        Clock.currentTimeMillis,
        (now) => requests.accounts_set_consent({ ...asked, at: withdrawn ? null : at ?? new Date(now) })
      ),
    ({ account_id, at }) => [
      at === null
        ? `The holder of ${account_id} has not agreed to archiving.`
        : `The holder of ${account_id} agreed to archiving on ${Output.minute(at)}.`
    ]
  )
).pipe(
  Command.withDescription("Keep when an account's holder agreed to archiving: it is shown, and changes nothing"),
  Output.examples(
    ["accounts set-consent acme 01a1ffd4-bd28-707e-baab-23739ca39709 --at 2026-03-01", "Agreed on that day"],
    ["accounts set-consent acme 01a1ffd4-bd28-707e-baab-23739ca39709 --withdrawn", "No longer agreed"]
  )
)

const reveal = Command.make(
  "reveal",
  asking({ organization, account_id }),
  sending(
    (requests, asked) =>
      Effect.map(requests.accounts_reveal(asked), ({ account_id, password }) => ({
        organization: asked.organization,
        account_id,
        password: Redacted.value(password)
      })),
    ({ password }) => [password]
  )
).pipe(
  Command.withDescription(
    "Print the 2FA password that the service holds of an account; release its takeover lock before handing it out"
  ),
  Output.examples(["accounts reveal acme 01a1ffd4-bd28-707e-baab-23739ca39709", "Print the password"])
)

export const accounts = Command.make("accounts").pipe(Command.withSubcommands([
  listAccounts,
  setTier,
  setConsent,
  reveal
]))

const listLinks = Command.make(
  "list",
  asking({ organization }),
  sending((requests, asked) => requests.sign_up_links_list(asked), ({ links, reserved }, { organization }) => [
    `${reserved} of the seats of ${organization} are held by sign-up links.`,
    ...(links.length === 0
      ? []
      : Output.table(["LINK ID", "MADE"], links.map((each) => [each.id, each.created_at.toISOString()])))
  ])
).pipe(Command.withDescription("List the sign-up links that nobody has used, the newest first"))

const revokeLink = Command.make(
  "revoke",
  asking({ organization, link_id: argument("link-id", "The link's id") }),
  sending((requests, asked) => requests.sign_up_links_revoke(asked), ({ free_seats, link_id }, { organization }) => [
    `Revoked ${link_id}: ${organization} has ${free_seats} free seats.`
  ])
).pipe(Command.withDescription("Revoke a sign-up link that nobody has used, and free its seat"))

export const signUpLinks = Command.make("sign-up-links").pipe(Command.withSubcommands([listLinks, revokeLink]))
