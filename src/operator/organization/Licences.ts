/** An operator's actions on the licences of accounts, and on the links that hold seats. */
import { Effect, Schema } from "effect"
import { AccountId } from "../../domain/accounts/Account.ts"
import { isUuid, Timestamp } from "../../domain/JsonShapes.ts"
import { tierFault } from "../../domain/organization/Billing.ts"
import { Tier } from "../../domain/organization/Organization.ts"
import type { OrganizationId } from "../../domain/people/Access.ts"
import { Accounts } from "../../ports/accounts/Accounts.ts"
import { Db } from "../../ports/Db.ts"
import { Licences } from "../../ports/organization/Licences.ts"
import { Organizations } from "../../ports/organization/Organizations.ts"
import { accountEntry, change, entry, existing } from "../Journaled.ts"
import { refuse, useCase } from "../UseCase.ts"

/** The account of that id, locked. */
const lockedAccount = Effect.fnUntraced(function*(id: OrganizationId, accountId: string) {
  const named = accountId.toLowerCase()
  const account = isUuid(named) ? yield* (yield* Accounts).hold(id, AccountId.make(named)) : null
  return account ?? (yield* refuse(`${id} has no account ${accountId}.`))
})

export const setTier = change(
  "accounts_set_tier",
  Schema.Struct({ organization: Schema.String, account_id: Schema.String, tier: Tier }),
  Schema.Struct({
    organization: Schema.String,
    account_id: Schema.String,
    tier: Tier,
    /** The tier that it had before. */
    from: Schema.NullOr(Tier)
  }),
  ({ account_id, organization, tier }, { id }) =>
    Effect.gen(function*() {
      const licences = yield* Licences
      const organizations = yield* Organizations
      const facts = yield* organizations.lockFacts(id)
      const account = yield* lockedAccount(id, account_id)
      if (account.offboarded_at !== null) {
        return yield* refuse(`${account_id} is offboarded: it holds no licence.`)
      }
      const from = account.licence_tier
      const answer = { organization, account_id: account.id, tier, from }
      if (from === tier) return [answer, null]
      const fault = tierFault(facts, tier, yield* licences.used(id))
      if (fault !== null) return yield* refuse(fault)
      yield* licences.setTier(id, account.id, tier)
      return [
        answer,
        accountEntry("account.tier_set", account.id, { tier, ...(from === null ? {} : { from }) })
      ]
    })
)

export const setConsent = change(
  "accounts_set_consent",
  Schema.Struct({
    organization: Schema.String,
    account_id: Schema.String,
    /** The time at which the holder agreed to archiving; null where they do not, or no longer. */
    at: Schema.NullOr(Timestamp)
  }),
  Schema.Struct({ account_id: Schema.String, at: Schema.NullOr(Timestamp) }),
  ({ account_id, at }, { at: now, id }) =>
    Effect.gen(function*() {
      if (at !== null && at > now) return yield* refuse("Nobody agrees in the future: give a time that has passed.")
      const account = yield* lockedAccount(id, account_id)
      const answer = { account_id: account.id, at }
      if (account.archive_consent_at?.getTime() === at?.getTime()) return [answer, null]
      yield* (yield* Accounts).setConsent(id, account, at)
      const details = at === null ? { agreed: false } : { agreed_at: at.toISOString() }
      return [answer, accountEntry("account.archive_consent_set", account.id, details)]
    })
)

const linksListed = 200

export const listLinks = useCase(
  "sign_up_links_list",
  Schema.Struct({ organization: Schema.String }),
  Schema.Struct({
    /** The seats that links hold. */
    reserved: Schema.Int,
    links: Schema.Array(Schema.Struct({ id: Schema.String, created_at: Timestamp }))
  }),
  ({ organization }) =>
    Effect.gen(function*() {
      const licences = yield* Licences
      const organizations = yield* Organizations
      const id = yield* existing(organization)
      return yield* (yield* Db).read(
        id,
        Effect.gen(function*() {
          const { seats_reserved } = yield* organizations.facts({ organizationId: id })
          return { reserved: seats_reserved, links: yield* licences.links(id, linksListed) }
        })
      )
    })
)

export const revokeLink = change(
  "sign_up_links_revoke",
  Schema.Struct({ organization: Schema.String, link_id: Schema.String }),
  Schema.Struct({ organization: Schema.String, link_id: Schema.String, free_seats: Schema.Int }),
  ({ link_id, organization }, { id }) =>
    Effect.gen(function*() {
      const licences = yield* Licences
      const organizations = yield* Organizations
      const linkId = link_id.toLowerCase()
      yield* organizations.lock(id)
      if (!isUuid(linkId) || !(yield* licences.revokeLink(id, linkId))) {
        return yield* refuse(`${organization} has no sign-up link ${link_id} that is not used.`)
      }
      const facts = yield* organizations.facts({ organizationId: id })
      const free_seats = facts.seat_limit - facts.seats_used - facts.seats_reserved
      return [{ organization, link_id: linkId, free_seats }, entry("sign_up_link.revoked", linkId)]
    })
)
