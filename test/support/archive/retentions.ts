/** Archives that a retention concerns, and what its job and cleanups have made of them. */
import { Effect } from "effect"
import { applyArchiveRetention } from "../../../src/jobs/archive/apply_archive_retention.ts"
import { runArchiveCleanups } from "../../../src/jobs/archive/run_archive_cleanups.ts"
import * as World from "../world.ts"
import * as Archives from "./archives.ts"
import type * as Deletions from "./deletions.ts"

const { chatId, seen } = Archives
const aDay = 24 * 60 * 60

export type Staged = Effect.Success<ReturnType<typeof Deletions.stage>>

export const applied = Effect.andThen(applyArchiveRetention.run, runArchiveCleanups.run)

export const list = ({ admins }: Pick<Staged, "admins">) =>
  Effect.map(World.get("/v1/archive/cleanups", admins.owner.key), ({ body }) => body.data)

/** Archives messages of 40 and 35 days ago in each account. */
export const addOld = ({ archives }: Staged) =>
  Effect.forEach(
    archives,
    (archive) =>
      Archives.commit(
        archive,
        archive.writer.append(chatId, [seen(9000, 40 * aDay, "old"), seen(9001, 35 * aDay, "old")], "sweep")
      ),
    { discard: true }
  )

/** So many days after the archives' beginning. */
export const day = (days: number) => new Date(Archives.beginning + days * aDay * 1000).toISOString()

/** The number of the account's archived messages. */
export const messages = (id: string, accountId: string) =>
  Effect.map(
    World.query<{ messages: string }>(
      id,
      (sql) => sql`select archive_messages::text as messages from archive_state where account_id = ${accountId}`
    ),
    ([row]) => Number(row?.messages)
  )
