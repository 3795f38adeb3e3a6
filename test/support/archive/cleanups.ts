/** Holds and cleanups of the archive, past the API but for `cleanUpAccount`. */
import { Effect } from "effect"
import * as crypto from "node:crypto"
import { confirmPhrase } from "../../../src/domain/archive/ConfirmPhrase.ts"
import { runArchiveCleanups } from "../../../src/jobs/archive/run_archive_cleanups.ts"
import * as World from "../world.ts"

const messages = 2

export const add = (table: string, organizationId: string, facts: Readonly<Record<string, unknown>>) => {
  const row = { organization_id: organizationId, ...facts }
  const columns = Object.keys(row).join(", ")
  return World.query<object>(
    organizationId,
    (sql) =>
      sql`insert into ${sql(table)} (${sql.literal(columns)})
        select ${sql.literal(columns)} from jsonb_populate_record(null::${sql(table)}, ${
        JSON.stringify(row)
      }::text::jsonb)`
  )
}

/** The phrase of each cleanup that `makeCleanup` makes of one account. */
export const cleanupPhrase = confirmPhrase({ kind: "cleanup", what: "messages", count: messages, accounts: 1 })

/** A hold, released unless that is said; its id. */
export const makeHold = (
  organizationId: string,
  { accounts = null, released = new Date(1), since = null, until = null }: {
    readonly accounts?: ReadonlyArray<string> | null
    readonly released?: Date | null
    readonly since?: string | null
    readonly until?: string | null
  } = {}
) => {
  const id = crypto.randomUUID()
  return Effect.as(
    add("archive_hold", organizationId, {
      id,
      name: "Case",
      account_ids: accounts,
      since,
      until,
      placed_at: new Date(0),
      placed_by: crypto.randomUUID(),
      released_at: released
    }),
    id
  )
}

/** A cleanup of accounts of which nothing is to be deleted; its id. */
export const makeCleanup = (organizationId: string, accounts: ReadonlyArray<string>, state = "done") => {
  const id = crypto.randomUUID()
  return Effect.as(
    add("archive_cleanup", organizationId, {
      id,
      state,
      account_ids: accounts,
      chat_ids: null,
      before: null,
      media_only: false,
      stop_saving: false,
      pages: 1,
      messages,
      files: 0,
      bytes: 10,
      chats: 1,
      watermark: {},
      expires_at: new Date(9e12),
      created_by: crypto.randomUUID(),
      created_at: new Date(0)
    }),
    id
  )
}

/** Deletes everything of the account, as an admin has it deleted. */
export const cleanUpAccount = Effect.fnUntraced(function*(key: NonNullable<World.Asking["key"]>, accountId: string) {
  const { body } = yield* World.send("POST", "/v1/archive/cleanups", {
    key,
    body: { criteria: { account_ids: [accountId] }, stop_saving: false }
  })
  yield* World.send("POST", `/v1/archive/cleanups/${body.id}/confirm`, {
    key,
    body: { confirm_phrase: body.confirm_phrase }
  })
  yield* runArchiveCleanups.run
})

/** Releases every hold of the organization. */
export const releaseHolds = (organizationId: string) =>
  World.query<object>(
    organizationId,
    (sql) => sql`update archive_hold set released_at = ${new Date(1)} where organization_id = ${organizationId}`
  )

/** A hold that a request can release, more than once. */
export const prepareHold = Effect.fnUntraced(function*(organizationId: string, account: string) {
  const id = yield* makeHold(organizationId, { accounts: [account], released: null })
  const again = World.query<object>(
    organizationId,
    (sql) => sql`update archive_hold set released_at = null where organization_id = ${organizationId} and id = ${id}`
  )
  return { subject: { hold: id }, again, anew: again }
})

/** A cleanup of the account in a state that can be restored, for a request with these members. */
export const prepareCleanup = Effect.fnUntraced(function*(
  organizationId: string,
  account: string,
  state: string,
  members: Readonly<Record<string, unknown>>
) {
  const id = yield* makeCleanup(organizationId, [account], state)
  const again = World.query<object>(
    organizationId,
    (sql) =>
      sql`update archive_cleanup set state = ${state}, confirmed_by = null, finished_at = null
        where organization_id = ${organizationId} and id = ${id}`
  )
  return { subject: { cleanup: id }, members, again, anew: again }
})

/** No message counts as redacted any more. */
export const forgetRedactions = (organizationId: string) =>
  World.query<object>(
    organizationId,
    (sql) => sql`delete from archive_change where organization_id = ${organizationId} and kind = 'redacted'`
  )

/** No run of the organization's archives is asked for any more. */
export const notAsked = (organizationId: string) =>
  World.query<object>(
    organizationId,
    (sql) => sql`update archive_run set asked_at = null where organization_id = ${organizationId}`
  )
