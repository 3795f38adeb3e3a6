/** Exports of the archive, past the API. */
import { Effect } from "effect"
import * as crypto from "node:crypto"
import { add } from "./cleanups.ts"

/** An export of one part, made by an admin; its id. */
export const makeExport = Effect.fnUntraced(
  function*(organizationId: string, accounts: ReadonlyArray<string>, admin: string = crypto.randomUUID()) {
    const id = crypto.randomUUID()
    yield* add("archive_export", organizationId, {
      id,
      account_ids: accounts,
      account_names: accounts.map(() => "Name"),
      chat_ids: null,
      since: null,
      until: null,
      format: "json",
      media: false,
      messages: 2,
      files: 0,
      parts: 1,
      created_by: admin,
      created_at: new Date(0),
      expires_at: new Date(9e12)
    })
    yield* add("archive_export_part", organizationId, {
      export_id: id,
      number: 1,
      account_id: accounts[0],
      first_day: "1970-01-01",
      last_day: "1970-01-02",
      messages: 2,
      files: 0,
      bytes: 1000,
      last_page: 0
    })
    return id
  }
)

/** An export of the account for a request of its maker. */
export const prepareExport = (organizationId: string, account: string, admin: string) =>
  Effect.map(makeExport(organizationId, [account], admin), (id) => ({ subject: { export: id } }))
