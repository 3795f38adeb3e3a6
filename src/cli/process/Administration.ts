/** The requests to the process that has the database open: the same in this process and through a socket. */
import { Effect, Record, Schema, Stream, Struct } from "effect"
import * as Rpc from "effect/rpc/Rpc"
import * as RpcGroup from "effect/rpc/RpcGroup"
import * as RpcMiddleware from "effect/rpc/RpcMiddleware"
import * as Accounts from "../../operator/accounts/Accounts.ts"
import * as ArchiveKeys from "../../operator/archive/ArchiveKeys.ts"
import * as ArchiveVerification from "../../operator/archive/ArchiveVerification.ts"
import * as ApiKeys from "../../operator/credentials/ApiKeys.ts"
import * as Database from "../../operator/Database.ts"
import * as Journals from "../../operator/journal/Journals.ts"
import * as Applications from "../../operator/oauth/Applications.ts"
import * as Licences from "../../operator/organization/Licences.ts"
import * as Organizations from "../../operator/organization/Organizations.ts"
import * as Support from "../../operator/organization/Support.ts"
import * as AdminLinks from "../../operator/people/AdminLinks.ts"
import * as Admins from "../../operator/people/Admins.ts"
import * as Secrets from "../../operator/security/Secrets.ts"
import * as Seed from "../../operator/SeedFile.ts"
import * as IdentityProviders from "../../operator/signin/IdentityProviders.ts"
import { Refused, type UseCase, type WordedFailure } from "../../operator/UseCase.ts"

/** Every failure in its one line. */
const refused = ({ message }: WordedFailure) => new Refused({ message })

/** A use case as a request, with what answers it. */
const request = <
  const Name extends string,
  Input extends Schema.Top,
  Output extends Schema.Top,
  E extends WordedFailure,
  R
>(
  { input, name, output, run }: UseCase<Name, Input, Output, Effect.Effect<Output["Type"], E, R>>
) =>
  Record.singleton(name, {
    rpc: Rpc.make(name, { payload: input, success: output, error: Refused }),
    answer: (asked: Input["Type"]) => Effect.mapError(run(asked), refused)
  })

/** A request whose answers follow one another. */
const stream = <
  const Name extends string,
  Input extends Schema.Top,
  Output extends Schema.Top,
  E extends WordedFailure,
  R
>(
  { input, name, output, run }: UseCase<Name, Input, Output, Stream.Stream<Output["Type"], E, R>>
) =>
  Record.singleton(name, {
    rpc: Rpc.make(name, { payload: input, success: output, error: Refused, stream: true }),
    answer: (asked: Input["Type"]) => Stream.mapError(run(asked), refused)
  })

/** The part of a request that answers it. */
interface AnswerOf extends Struct.Lambda {
  <A>(request: { readonly answer: A }): A
  readonly "~lambda.out": this["~lambda.in"] extends { readonly answer: infer A } ? A : never
}

const answersOf = Struct.lambda<AnswerOf>(({ answer }) => answer)

const database = request(Database.databaseStatus)

/** The requests that need only the database, whatever the version of its schema. */
export const DatabaseRequests = RpcGroup.make(...Object.values(database).map(({ rpc }) => rpc))
export const databaseAnswers = Struct.map(database, answersOf)

const audit = request(Journals.verifyJournal)

/** The requests of an auditor, which need none of the service's secrets. */
export const AuditRequests = RpcGroup.make(...Object.values(audit).map(({ rpc }) => rpc))
export const auditAnswers = Struct.map(audit, answersOf)

/** Every use case that has a command. */
const commands = {
  ...request(Organizations.createOrganization),
  ...request(Organizations.listOrganizations),
  ...request(Organizations.showOrganization),
  ...request(Organizations.setOrganization),
  ...request(Organizations.changeStatus),
  ...request(Organizations.holdArchive),
  ...request(Accounts.listAccounts),
  ...request(Licences.setTier),
  ...request(Licences.setConsent),
  ...request(Secrets.revealTwoFa),
  ...request(Secrets.rewrapSecrets),
  ...request(ArchiveKeys.setKey),
  ...request(ArchiveVerification.verifyArchive),
  ...request(Licences.listLinks),
  ...request(Licences.revokeLink),
  ...request(IdentityProviders.setProvider),
  ...request(IdentityProviders.showProvider),
  ...request(IdentityProviders.removeProvider),
  ...request(IdentityProviders.linkIdentity),
  ...request(IdentityProviders.unlinkIdentity),
  ...request(Support.listSupport),
  ...request(Support.answerSupport),
  ...request(Support.closeSupport),
  ...request(Admins.createAdmin),
  ...request(Admins.listAdmins),
  ...request(Admins.showAdmin),
  ...request(Admins.setAdmin),
  ...request(Admins.setPassword),
  ...request(Admins.resetFactor),
  ...request(Admins.disableAdmin),
  ...request(Admins.enableAdmin),
  ...request(AdminLinks.renewInvitation),
  ...request(AdminLinks.makePasswordLink),
  ...request(Admins.transferOwnership),
  ...request(ApiKeys.createKey),
  ...request(ApiKeys.listKeys),
  ...request(ApiKeys.showKey),
  ...request(ApiKeys.revokeKey),
  ...request(Applications.listApplications),
  ...request(Applications.requireApproval),
  ...request(Applications.approveApplication),
  ...request(Applications.withdrawApplication),
  ...request(Seed.seed),
  ...audit,
  ...request(Journals.checkpoint),
  ...request(Journals.tailJournal),
  ...stream(Journals.exportJournal)
}

/** The requests of the commands. */
export const CommandRequests = RpcGroup.make(...Object.values(commands).map(({ rpc }) => rpc))
export const commandAnswers = Struct.map(commands, answersOf)

/** The request to let the directory go, and whether the holder will. */
export const HolderRequests = RpcGroup.make(Rpc.make("release", { success: Schema.Boolean }))

/** Answers what fails unexpectedly with a refusal, and logs it where it happened. */
export class Contained
  extends RpcMiddleware.Service<Contained>()("org-security-console/cli/process/Administration/Contained", {
    error: Refused
  })
{}

/** Everything that the holder of a directory answers at its socket. */
export const SocketRequests = CommandRequests.merge(DatabaseRequests, HolderRequests).middleware(Contained)
