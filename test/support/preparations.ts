/** What has to be there before an operation succeeds: the one list of it, for every test that needs successes. */
import { Effect, Redacted } from "effect"
import { SqlClient } from "effect/sql"
import * as crypto from "node:crypto"
import { confirmPhrase } from "../../src/domain/archive/ConfirmPhrase.ts"
import type * as Operation from "../../src/kernel/Operation.ts"
import { SimulatedPlatform } from "../../src/layers/messenger/simulated/SimulatedPlatform.ts"
import * as Provisioning from "../../src/layers/sql/Provisioning.ts"
import { api, type operations } from "../added/index.ts"
import * as Cleanups from "./archive/cleanups.ts"
import { restorable } from "./archive/deletions.ts"
import { prepareExport } from "./archive/exports.ts"
import { accountTarget, makeRule } from "./archive/rules.ts"
import { archivedIds, sealChats } from "./archive/sealedChats.ts"
import * as Logins from "./logins/logins.ts"
import { type IdKind, isStep } from "./random.ts"
import * as Securing from "./security/securing.ts"
import * as World from "./world.ts"

/** Where an operation is to succeed, and by whose request. */
export interface Place {
  readonly organization: string
  readonly asker: World.Person
}

/** What is there now. */
export interface Prepared {
  /** What the request names. */
  readonly subject?: Partial<Record<IdKind, string>>
  /** What else it says. */
  readonly members?: Readonly<Record<string, unknown>>
  /** Makes what the operation has deleted once more. */
  readonly anew?: Effect.Effect<unknown, unknown, Needs>
  /** Puts back what the operation has changed of that, so that the same request succeeds again. */
  readonly again?: Effect.Effect<unknown, unknown, Needs>
}

type Needs = Effect.Services<
  ReturnType<
    | typeof World.makeLiveAccount
    | typeof World.makePerson
    | typeof World.send
    | typeof Securing.ready
    | typeof Provisioning.password
    | typeof sealChats
  >
>
type Preparation = (place: Place) => Effect.Effect<Prepared, unknown, Needs>

/** What a third party has written wherever something is prepared that holds such a text. */
export const thirdParty = "A third party's text"

const early = new Date(0)

/** A live account that the asker has access to, and that the service may sign others out of. */
const makeAccount = Effect.fnUntraced(function*({ asker, organization }: Place, facts: object = {}) {
  const account = yield* World.makeLiveAccount(organization, {}, { facts: { enforcement_active_at: early, ...facts } })
  yield* World.grant(organization, asker.id, { accounts: [account.id] })
  return account
})

/** Makes the admin the owner, and nobody else. */
export const makeOwner = Effect.fnUntraced(function*(organization: string, id: string) {
  for (const [role, whose] of [["superadmin", "role = 'owner'"], ["owner", `id = '${id}'`]] as const) {
    yield* World.query<object>(
      organization,
      (sql) => sql`update admin set role = ${role} where organization_id = ${organization} and ${sql.literal(whose)}`
    )
  }
})

/** An account of which these facts hold. */
const account = (facts: Record<string, unknown> = {}): Preparation =>
  Effect.fnUntraced(function*(place) {
    const { id } = yield* makeAccount(place, facts)
    const again = Object.keys(facts).length === 0 ? Effect.void : World.set(place.organization, "account", id, facts)
    return { subject: { account: id }, again }
  })

/** An account with what its protection consists of. */
const secured = (passkey?: string): Preparation =>
  Effect.fnUntraced(function*(place) {
    const { id, userId } = yield* makeAccount(place)
    const { organization } = place
    const again = Securing.ready({ organization, account: id, userId, ...(passkey === undefined ? {} : { passkey }) })
    yield* again
    return { subject: { account: id }, again }
  })

/** An account in which a stranger has a session. */
const entered: Preparation = Effect.fnUntraced(function*(place) {
  const { id, userId } = yield* makeAccount(place)
  const { organization } = place
  const platform = yield* SimulatedPlatform
  const session = yield* platform.logIn(userId, {})
  const again = Effect.gen(function*() {
    const sql = yield* SqlClient.SqlClient
    const id = yield* platform.logIn(userId, {})
    yield* sql`delete from simulated_authorization where id = ${session}`
    yield* sql`update simulated_authorization set id = ${session} where id = ${id}`
  })
  const row = { account_id: id, id: session, seen_at: early, review_deadline: new Date(9e12) }
  yield* World.addRows("session", organization, [row])
  return {
    subject: { account: id, session },
    again: Effect.gen(function*() {
      for (const table of ["session", "termination"]) {
        yield* World.query<object>(
          organization,
          (sql) => sql`delete from ${sql(table)} where organization_id = ${organization} and account_id = ${id}`
        )
      }
      yield* World.addRows("session", organization, [row])
      yield* again
    })
  }
})

/** An account with archived chats, which the asker may open. */
const archived: Preparation = Effect.fnUntraced(function*(place) {
  const { id } = yield* makeAccount(place)
  yield* World.set(place.organization, "admin", place.asker.id, { archive_access: true })
  const [file = ""] = yield* sealChats(place.organization, id, thirdParty)
  const { chat: [chat], member: [member], message: [message] } = archivedIds
  return { subject: { account: id, chat, file, member, message } }
})

const removeRules = (organization: string) =>
  World.query<object>(organization, (sql) => sql`delete from archive_rule where organization_id = ${organization}`)

/** An account whose rules the asker may change. */
const ruled = Effect.fnUntraced(function*(place: Place) {
  const { id } = yield* makeAccount(place)
  yield* World.set(place.organization, "admin", place.asker.id, { archive_access: true })
  return id
})

const reader: Preparation = (place) => Effect.map(ruled(place), (account) => ({ subject: { account } }))

const rule: Preparation = Effect.fnUntraced(function*(place) {
  const target = yield* ruled(place)
  yield* removeRules(place.organization)
  const id = yield* makeRule(place.organization, "any", { target })
  const anew = Effect.andThen(
    removeRules(place.organization),
    makeRule(place.organization, "any", { id, target })
  )
  return { subject: { rule: id }, anew, again: anew }
})

/** A cleanup of an account of its own that the asker sees. */
const cleanup = (state: string, members: Prepared["members"] = {}): Preparation => (place) =>
  Effect.flatMap(ruled(place), (account) => Cleanups.prepareCleanup(place.organization, account, state, members))

/** An account that is no longer protected, with archived chats. */
const deletable: Preparation = Effect.fnUntraced(function*(place) {
  const { id } = yield* makeAccount(place, { offboarded_at: early, session_ref: null })
  yield* sealChats(place.organization, id, thirdParty)
  const { anew, phone } = yield* restorable(place.organization, id)
  const phrase = confirmPhrase({ kind: "account", phoneNumber: phone })
  const again = World.set(place.organization, "account", id, { offboarded_at: early })
  return { subject: { account: id }, members: { confirm_phrase: phrase }, anew, again }
})

/** An organization of the asker's that has archived something. */
const archiving: Preparation = Effect.fnUntraced(function*(place) {
  const { asker, organization } = place
  yield* makeOwner(organization, asker.id)
  // A deletion that was begun before has ended.
  const again = Effect.forEach([
    `update archive_deletion set finished_at = started_at where organization_id = '${organization}'`,
    `update organization set archive_deletion_started_at = null where id = '${organization}'`
  ], (statement) => World.query<object>(organization, (sql) => sql.unsafe(statement)))
  yield* again
  yield* Cleanups.releaseHolds(organization)
  const { id } = yield* makeAccount(place)
  yield* sealChats(organization, id, thirdParty)
  return { members: { confirm_phrase: confirmPhrase({ kind: "archive", organizationId: organization }) }, again }
})

/** The same, for a search of one of the chats. */
const searched: Preparation = Effect.fnUntraced(function*(place) {
  const { subject } = yield* archived(place)
  return {
    subject: subject ?? {},
    members: { account_ids: [subject?.account], chat_ids: [subject?.chat], query: "text" }
  }
})

/** A person of the role admin, of whom these facts hold. */
const person = (facts: Record<string, unknown> = {}): Preparation => ({ organization }) =>
  Effect.map(World.makePerson(organization, "admin", { facts }), ({ id, keyId }) => ({
    subject: { person: id },
    again: World.set(organization, "api_key", keyId, { revoked_at: null })
  }))

const password = Redacted.make(String(api.transfer_ownership.sample.request.current_password))

const givePassword = ({ asker, organization }: Place) => Provisioning.password(organization, asker.id, password)

/** The same for an admin who has the console password of the samples. */
const confirmed = (preparation: Preparation): Preparation => (place) =>
  Effect.andThen(givePassword(place), preparation(place))

/** A login that waits for the code that the messenger has sent to somebody. */
const begun = Effect.fnUntraced(function*({ asker }: Place, more: Parameters<typeof Logins.meet>[0] = {}) {
  const holder = yield* Logins.meet(more)
  const { connect, code: submit } = Logins.actor(asker.key)
  const { body } = yield* connect(holder.phone)
  const login: string = body.id
  const code = yield* holder.code
  return { login, code, phone: holder.phone, submit: submit(login, code) }
})

const holders = Redacted.make(String(api.submit_login_password.sample.request.password))
const fresh = (what: string) => `${what} ${crypto.randomUUID()}`

/** What each operation needs; one that has no line succeeds in any organization with an account and something to read. */
const preparations = {
  pause_protection: account(),
  resume_protection: account({ paused_at: early }),
  create_api_key: (place) =>
    Effect.as(givePassword(place), {
      // What a credential with the operation's own scope alone may hand on.
      members: { scopes: [api.create_api_key.scope], current_password: Redacted.value(password) }
    }),
  revoke_api_key: ({ asker, organization }) =>
    Effect.map(World.makeKey(organization, asker.id, ["org:read"]), ({ id }) => ({
      subject: { key: id },
      again: World.set(organization, "api_key", id, { revoked_at: null })
    })),
  revoke_ai_connection: Effect.fnUntraced(function*({ asker, organization }) {
    const id = crypto.randomUUID()
    yield* World.addRows("ai_connection", organization, [{
      id,
      admin_id: asker.id,
      kind: "oauth",
      label: "Bridge",
      client_name: thirdParty,
      client_host: "app.example",
      mode: "cloud",
      scopes: ["org:read"],
      scope_type: "accounts",
      created_at: early
    }])
    const again = World.query<object>(
      organization,
      (sql) => sql`update ai_connection set revoked_at = null where organization_id = ${organization} and id = ${id}`
    )
    return { subject: { connection: id }, again }
  }),
  start_backup: Effect.fnUntraced(function*(place) {
    const { id } = yield* makeAccount(place)
    yield* sealChats(place.organization, id, thirdParty)
    const again = Cleanups.notAsked(place.organization)
    return { subject: { account: id }, again, anew: again }
  }),
  get_archive_retention: reader,
  preview_archive_rule: (place) => Effect.map(ruled(place), (id) => ({ members: accountTarget(id) })),
  list_archive_rules: reader,
  create_archive_rule: Effect.fnUntraced(function*(place) {
    const id = yield* ruled(place)
    const anew = removeRules(place.organization)
    return { members: accountTarget(id), anew, again: anew }
  }),
  update_archive_rule: rule,
  delete_archive_rule: rule,
  preview_archive_cleanup: Effect.fnUntraced(function*(place) {
    const account = yield* ruled(place)
    yield* Cleanups.releaseHolds(place.organization)
    yield* sealChats(place.organization, account, thirdParty)
    return { members: { criteria: { account_ids: [account] } } }
  }),
  list_archive_cleanups: reader,
  get_archive_cleanup: cleanup("previewed"),
  confirm_archive_cleanup: cleanup("previewed", { confirm_phrase: Cleanups.cleanupPhrase }),
  cancel_archive_cleanup: cleanup("queued"),
  redact_messages: (place) => {
    const again = Cleanups.forgetRedactions(place.organization)
    return Effect.map(archived(place), ({ subject = {} }) => ({ subject, again, anew: again }))
  },
  create_archive_export: (place) =>
    Effect.map(archived(place), ({ subject }) => ({ members: { criteria: { account_ids: [subject?.account] } } })),
  list_archive_exports: reader,
  get_archive_export: (place) =>
    Effect.flatMap(ruled(place), (account) => prepareExport(place.organization, account, place.asker.id)),
  list_archive_holds: reader,
  place_archive_hold: (place) => Effect.map(ruled(place), (account) => ({ members: { account_ids: [account] } })),
  release_archive_hold: Effect.fnUntraced(function*(place) {
    yield* makeOwner(place.organization, place.asker.id)
    return yield* Cleanups.prepareHold(place.organization, (yield* makeAccount(place)).id)
  }),
  create_department: () => Effect.succeed({ members: { name: fresh("Legal") } }),
  rename_department: ({ organization }) =>
    Effect.map(World.makeDepartment(organization), (department) => ({
      subject: { department },
      members: { name: fresh("Legal") }
    })),
  delete_department: ({ organization }) =>
    Effect.map(World.makeDepartment(organization), (department) => ({ subject: { department } })),
  invite_admin: (place) =>
    Effect.as(givePassword(place), {
      members: { email: `${crypto.randomUUID()}@example.com`, current_password: Redacted.value(password) }
    }),
  resend_admin_invitation: person({ joined_at: null }),
  set_admin_role: confirmed(person()),
  set_admin_access: confirmed(person()),
  disable_admin: person(),
  enable_admin: person({ disabled_at: early }),
  remove_admin: person(),
  transfer_ownership: Effect.fnUntraced(function*(place) {
    const { asker, organization } = place
    yield* givePassword(place)
    yield* makeOwner(organization, asker.id)
    const { id } = yield* World.makePerson(organization, "superadmin")
    return { subject: { person: id } }
  }),
  approve_session: entered,
  sign_out_session: entered,
  sign_out_other_sessions: entered,
  release_takeover_lock: account({ locked_at: early }),
  set_security_lock: account({ security_lock: false }),
  start_account_connect: () => Effect.map(Logins.meet(), ({ phone }) => ({ members: { phone_number: phone } })),
  start_account_relogin: account({ monitoring_state: "unknown" }),
  submit_login_code: (place) =>
    Effect.map(begun(place), ({ code, login }) => ({ subject: { login }, members: { code } })),
  submit_login_password: Effect.fnUntraced(function*(place) {
    const { login, submit } = yield* begun(place, { security: { two_fa_password: holders } })
    yield* submit
    return { subject: { login } }
  }),
  resend_login_code: Effect.fnUntraced(function*(place) {
    const { login, phone } = yield* begun(place)
    const sql = yield* SqlClient.SqlClient
    yield* sql`update simulated_login set resend_at = ${early} where phone = ${phone.slice(1)}`
    yield* World.query<object>(
      place.organization,
      (sql) =>
        sql`update login set resend_at = ${early} where organization_id = ${place.organization} and id = ${login}`
    )
    return { subject: { login } }
  }),
  cancel_login: (place) => Effect.map(begun(place), ({ login }) => ({ subject: { login } })),
  set_two_fa_password: secured(),
  set_recovery_email: secured(),
  confirm_recovery_email: secured(),
  remove_recovery_email: secured(),
  set_login_email: secured(),
  confirm_login_email: secured(),
  add_passkey: secured(),
  remove_passkey: secured("added"),
  remove_two_fa_password: secured(),
  create_paired_session: account({ paired_state: "none" }),
  remove_paired_session: account({ paired_state: "lost", paired_since: early }),
  offboard_account: account({ offboarded_at: null }),
  list_accounts: archived,
  list_chats: archived,
  get_chat: archived,
  list_messages: archived,
  get_message: archived,
  search_messages: searched,
  list_chat_members: archived,
  list_message_edits: archived,
  list_files: archived,
  get_file: archived,
  delete_account_with_archive: deletable,
  delete_whole_archive: archiving,
  retire_label: account({ role_label: "First" })
} satisfies Partial<Record<typeof operations[number]["id"], Preparation>>

/** What a change answers that has been made already, where that is a refusal. */
export const conflicts: Readonly<Record<string, string>> = {
  pause_protection: "not_active",
  resume_protection: "not_paused"
}

const lines: Readonly<Record<string, Preparation>> = preparations

/** Whether the operation needs something of its own. */
export const isPrepared = (id: string): boolean => Object.hasOwn(lines, id)

const prepared = ({ id }: Operation.Any): boolean => isPrepared(id)

/** The tests of successes that leave operations out: which, and why. The others leave none out. */
export const leftOut = {
  /** Whether the credential is taken does not depend on the operation: every refusal before is asked for of each. */
  enabledAgain: prepared,
  /** In an organization that is pending or suspended no account is connected. */
  notLive: isStep,
  /** The repeats of these are played with the samples, in test/http/examples.test.ts. */
  repeats: ({ id }: Operation.Any): boolean => isPrepared(id) && !Object.hasOwn(conflicts, id),
  /** What a third party has written here is looked for in test/properties/success.test.ts. */
  thirdPartyText: prepared
}

/** Makes what the operation needs, in that organization and for that caller. */
export const prepare = (id: string, place: Place): Effect.Effect<Prepared, never, Needs> =>
  Effect.orDie(lines[id]?.(place) ?? Effect.succeed({}))
