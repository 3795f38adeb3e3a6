/** An operator's actions on the identity providers of organizations. */
import { Effect, Schema } from "effect"
import { Timestamp } from "../../domain/JsonShapes.ts"
import { identityLinked, identityUnlinked } from "../../domain/mail/AdminMails.ts"
import {
  type IdentityProviderFacts,
  Issuer,
  MaxAge,
  SecondFactorBy,
  Subject
} from "../../domain/signin/IdentityProvider.ts"
import { Db } from "../../ports/Db.ts"
import { Organizations } from "../../ports/organization/Organizations.ts"
import { IdentityProviders } from "../../ports/signin/IdentityProviders.ts"
import { change, entry, existing } from "../Journaled.ts"
import { locked } from "../people/Admins.ts"
import { adminRef } from "../RequestFields.ts"
import { refuse, useCase } from "../UseCase.ts"

const Provider = Schema.Struct({
  issuer: Schema.String,
  client_id: Schema.String,
  required: Schema.Boolean,
  second_factor: SecondFactorBy,
  private_network: Schema.Boolean,
  max_age_minutes: Schema.NullOr(MaxAge)
})

const shown = ({ version: _, ...facts }: IdentityProviderFacts): typeof Provider.Type => facts

const none = (organization: string) => refuse(`${organization} has no identity provider.`)

/** A text that goes into a form of the provider's as it is. */
const Plain = (most: number) =>
  Schema.String.check(
    Schema.isPattern(/^[\x20-\x7e]+$/, { expected: "printable characters of ASCII" }),
    Schema.isMaxLength(most)
  )

export const setProvider = change(
  "identity_provider_set",
  Schema.Struct({
    organization: Schema.String,
    /** Null leaves it as it is, here and below. */
    issuer: Schema.NullOr(Issuer),
    client_id: Schema.NullOr(Plain(255)),
    client_secret: Schema.NullOr(Schema.RedactedFromValue(Plain(1024))),
    required: Schema.NullOr(Schema.Boolean),
    second_factor: Schema.NullOr(SecondFactorBy),
    private_network: Schema.NullOr(Schema.Boolean),
    /** `any` leaves the age of a person's sign-in there to the provider. */
    max_age: Schema.NullOr(Schema.Union([MaxAge, Schema.Literal("any")]))
  }),
  Schema.Struct({
    ...Provider.fields,
    ended: Schema.Struct({ links: Schema.Int, sessions: Schema.Int }),
    /** The number of admins besides the owner who cannot come by the provider yet. */
    unlinked: Schema.Int
  }),
  ({ client_secret, ...said }, { at, id }) =>
    Effect.gen(function*() {
      const providers = yield* IdentityProviders
      const organizations = yield* Organizations
      yield* organizations.lock(id)
      const before = yield* providers.lock(id)
      const issuer = said.issuer ?? before?.issuer
      const client_id = said.client_id ?? before?.client_id
      if (issuer === undefined || client_id === undefined) {
        return yield* refuse("A provider has an issuer and a client id: say both, by --issuer and --client-id.")
      }
      const moved = before?.issuer !== issuer || before.client_id !== client_id
      if (moved && client_secret === null) {
        return yield* refuse("Say the secret that the console has at this issuer: --client-secret-file - reads it.")
      }
      const after = {
        issuer,
        client_id,
        required: said.required ?? before?.required ?? false,
        second_factor: said.second_factor ?? before?.second_factor ?? "console",
        private_network: said.private_network ?? before?.private_network ?? false,
        max_age_minutes: said.max_age === "any" ? null : said.max_age ?? before?.max_age_minutes ?? null
      }
      // Sessions end that came by a provider that counts no more, or that had no need to come by one.
      const left = before !== null && moved ? yield* providers.endSessions(id, "linked") : 0
      const stayed = after.required && before?.required !== true
        ? yield* providers.endSessions(id, "not_owner")
        : 0
      const links = yield* providers.keepLinks(id, issuer)
      yield* providers.put(id, after, client_secret, at)
      const ended = { links, sessions: left + stayed }
      return [
        { ...after, ended, unlinked: yield* providers.unlinked(id) },
        entry("identity_provider.set", id, {
          ...after,
          max_age_minutes: after.max_age_minutes ?? "any",
          ...(client_secret === null ? {} : { client_secret: "new" }),
          links_ended: links,
          sessions_ended: ended.sessions
        })
      ]
    })
)

export const showProvider = useCase(
  "identity_provider_show",
  Schema.Struct({ organization: Schema.String }),
  Schema.Struct({
    ...Provider.fields,
    links: Schema.Array(Schema.Struct({
      email: Schema.String,
      subject: Schema.String,
      linked_at: Timestamp
    })),
    unlinked: Schema.Int
  }),
  ({ organization }) =>
    Effect.gen(function*() {
      const providers = yield* IdentityProviders
      const id = yield* existing(organization)
      return yield* (yield* Db).read(
        id,
        Effect.gen(function*() {
          const facts = yield* providers.find(id)
          if (facts === null) return yield* none(organization)
          const links = yield* providers.links(id)
          return {
            ...shown(facts),
            links: links.map(({ email, linked_at, subject }) => ({ email, linked_at, subject })),
            unlinked: yield* providers.unlinked(id)
          }
        })
      )
    })
)

export const removeProvider = change(
  "identity_provider_remove",
  Schema.Struct({ organization: Schema.String }),
  Schema.Struct({ organization: Schema.String, links: Schema.Int, sessions: Schema.Int }),
  ({ organization }, { id }) =>
    Effect.gen(function*() {
      const providers = yield* IdentityProviders
      const organizations = yield* Organizations
      yield* organizations.lock(id)
      const facts = yield* providers.lock(id)
      if (facts === null) return yield* none(organization)
      const sessions = yield* providers.endSessions(id, "linked")
      const links = yield* providers.remove(id)
      return [
        { organization, links, sessions },
        entry("identity_provider.removed", id, {
          issuer: facts.issuer,
          links_ended: links,
          sessions_ended: sessions
        })
      ]
    })
)

const operator = "the operator of the service"

export const linkIdentity = change(
  "admins_link_identity",
  Schema.Struct({ ...adminRef, subject: Subject }),
  Schema.Struct({ organization: Schema.String, email: Schema.String, issuer: Schema.String, subject: Schema.String }),
  ({ email, organization, subject }, { at, id }) =>
    Effect.gen(function*() {
      const providers = yield* IdentityProviders
      const admin = yield* locked(id, email)
      const facts = yield* providers.lock(id)
      if (facts === null) return yield* none(organization)
      const ref = { organizationId: id, adminId: admin.id }
      const answer = { organization, email: admin.email, issuer: facts.issuer, subject }
      const known = yield* providers.linkOf(ref)
      if (known?.subject === subject) return [answer, null]
      if (known !== null) {
        return yield* refuse(`${admin.email} is linked to ${known.subject}: unlink the admin first.`)
      }
      if (!(yield* providers.link(ref, { issuer: facts.issuer, subject }, at))) {
        return yield* refuse(`${subject} is linked to another admin of ${organization}.`)
      }
      return [
        answer,
        entry("admin.identity_linked", admin.id, { email: admin.email, issuer: facts.issuer, subject }),
        [identityLinked({ adminId: admin.id, issuer: facts.issuer, by: operator })]
      ]
    })
)

export const unlinkIdentity = change(
  "admins_unlink_identity",
  Schema.Struct(adminRef),
  Schema.Struct({ organization: Schema.String, email: Schema.String, sessions: Schema.Int }),
  ({ email, organization }, { id }) =>
    Effect.gen(function*() {
      const providers = yield* IdentityProviders
      const admin = yield* locked(id, email)
      const ref = { organizationId: id, adminId: admin.id }
      const known = yield* providers.linkOf(ref)
      if (known === null) return yield* refuse(`${admin.email} is linked to nobody.`)
      yield* providers.unlink(ref)
      const sessions = yield* providers.endSessionsOf(ref, null)
      const { issuer, subject } = known
      return [
        { organization, email: admin.email, sessions },
        entry("admin.identity_unlinked", admin.id, {
          email: admin.email,
          issuer,
          subject,
          sessions_ended: sessions
        }),
        [identityUnlinked({ adminId: admin.id, issuer, by: operator })]
      ]
    })
)
