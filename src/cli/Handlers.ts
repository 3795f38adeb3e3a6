/** What each request does, over the layers that have the database open. */
import { Effect, Option, Stream } from "effect"
import * as Admins from "../administration/Admins.ts"
import * as ApiKeys from "../administration/ApiKeys.ts"
import * as Applications from "../administration/Applications.ts"
import * as IdentityProviders from "../administration/IdentityProviders.ts"
import * as Licences from "../administration/Licences.ts"
import * as Organizations from "../administration/Organizations.ts"
import * as Secrets from "../administration/Secrets.ts"
import type { seed } from "../administration/Seed.ts"
import * as Support from "../administration/Support.ts"
import { Refused } from "../administration/UseCase.ts"
import { Background } from "../engine/Background.ts"
import * as Loader from "../layers/seed/Loader.ts"
import * as DatabaseFacts from "../layers/sql/DatabaseFacts.ts"
import { AuditRequests, CommandRequests, DatabaseRequests } from "./Administration.ts"
import * as Journals from "./Journals.ts"

/** Every failure in its one line. */
const refused = ({ message }: { readonly message: string }) => new Refused({ message })

/** The handler of a use case. */
const handler =
  <Input, A, E extends { readonly message: string }, R>(run: (input: Input) => Effect.Effect<A, E, R>) =>
  (input: Input) => Effect.mapError(run(input), refused)

const databaseStatus = Effect.gen(function*() {
  const background = yield* Effect.serviceOption(Background)
  const jobs = Option.isNone(background) ? null : yield* background.value.jobs
  return { ...(yield* DatabaseFacts.facts), jobs }
})

export const databaseHandlers = DatabaseRequests.toLayer({ database_status: handler(() => databaseStatus) })

export const auditHandlers = AuditRequests.toLayer({ verify_journal: handler(Journals.verifyJournal) })

export const commandHandlers = CommandRequests.toLayer({
  create_organization: handler(Organizations.createOrganization.run),
  list_organizations: handler(Organizations.listOrganizations.run),
  show_organization: handler(Organizations.showOrganization.run),
  set_organization: handler(Organizations.setOrganization.run),
  change_status: handler(Organizations.changeStatus.run),
  reveal_two_fa: handler(Secrets.revealTwoFa.run),
  rewrap_secrets: handler(Secrets.rewrapSecrets.run),
  set_tier: handler(Licences.setTier.run),
  list_sign_up_links: handler(Licences.listLinks.run),
  revoke_sign_up_link: handler(Licences.revokeLink.run),
  set_identity_provider: handler(IdentityProviders.setProvider.run),
  show_identity_provider: handler(IdentityProviders.showProvider.run),
  remove_identity_provider: handler(IdentityProviders.removeProvider.run),
  link_identity: handler(IdentityProviders.linkIdentity.run),
  unlink_identity: handler(IdentityProviders.unlinkIdentity.run),
  list_support: handler(Support.listSupport.run),
  answer_support: handler(Support.answerSupport.run),
  close_support: handler(Support.closeSupport.run),
  create_admin: handler(Admins.createAdmin.run),
  list_admins: handler(Admins.listAdmins.run),
  show_admin: handler(Admins.showAdmin.run),
  set_admin: handler(Admins.setAdmin.run),
  set_password: handler(Admins.setPassword.run),
  reset_factor: handler(Admins.resetFactor.run),
  disable_admin: handler(Admins.disableAdmin.run),
  enable_admin: handler(Admins.enableAdmin.run),
  renew_invitation: handler(Admins.renewInvitation.run),
  make_password_link: handler(Admins.makePasswordLink.run),
  transfer_ownership: handler(Admins.transferOwnership.run),
  create_key: handler(ApiKeys.createKey.run),
  list_keys: handler(ApiKeys.listKeys.run),
  show_key: handler(ApiKeys.showKey.run),
  revoke_key: handler(ApiKeys.revokeKey.run),
  list_applications: handler(Applications.listApplications.run),
  require_approval: handler(Applications.requireApproval.run),
  approve_application: handler(Applications.approveApplication.run),
  withdraw_application: handler(Applications.withdrawApplication.run),
  seed: handler((input: typeof seed.input.Type) => Effect.flatMap(Loader.decode(input.seed), Loader.load)),
  verify_journal: handler(Journals.verifyJournal),
  checkpoint: handler(Journals.checkpoint),
  export_journal: (input) => Stream.mapError(Journals.exportJournal(input), refused)
})
