import { Effect, Schema } from "effect"
import { Account, account } from "../../domain/accounts/Account.ts"
import { List, page, Text } from "../../domain/JsonShapes.ts"
import { defaultSearchLimit, maxSearchLength, maxSearchLimit } from "../../domain/Limits.ts"
import { everyone } from "../../domain/people/Access.ts"
import * as Operation from "../../kernel/Operation.ts"
import { Accounts } from "../../ports/accounts/Accounts.ts"
import { Organizations } from "../../ports/organization/Organizations.ts"
import * as samples from "./accounts.samples.ts"

export const findAccounts = Operation.read(
  "find_accounts",
  {
    summary: "Find accounts by name, username, phone number or role label, the best match first.",
    description: "Case and diacritics do not matter; one or two letters match the starts of words alone.",
    method: "GET",
    path: "/v1/account-search",
    toolset: "accounts",
    scope: "org:read",
    roles: everyone,
    query: {
      query: Text(maxSearchLength).check(Schema.isNonEmpty()).annotateKey({
        description: "What is known of the account, such as Ada, @ada_lovelace or +1 202 555 0143."
      }),
      limit: Schema.optionalKey(
        Schema.Int.check(Schema.isBetween({ minimum: 1, maximum: maxSearchLimit }))
          .annotate({ default: defaultSearchLimit })
      ).annotateKey({ description: "The most accounts to answer." })
    },
    success: List(Account).annotate({ identifier: "found_account_list" }),
    sample: samples.findAccounts
  },
  Effect.fnUntraced(function*({ limit = defaultSearchLimit, query }, { caller, now }) {
    const accounts = yield* Accounts
    const organizations = yield* Organizations
    const facts = yield* organizations.facts(caller)
    const rows = yield* accounts.search(caller, query, limit)
    return page(rows.map((row) => account(row, facts, caller, now)), limit)
  })
)
