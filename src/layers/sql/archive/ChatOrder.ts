/** The order of a chat's pages, in SQL: ids rise with time, so that pages of one chat overlap within a day alone. */
import type { SqlClient, Statement } from "effect/sql"

/**
 * An id that is above the `last_id` of every page that may hold the id or a lower one, though it reaches beyond the id;
 * `ofChat` selects the chat's pages of messages. Days are compared by their difference, because the index on them is of
 * all chats.
 */
export const reachOf = (sql: SqlClient.SqlClient, ofChat: Statement.Fragment, id: Statement.Fragment) =>
  sql`coalesce((
    select beyond.last_id from archive_page as beyond
    where ${ofChat} and last_id >= ${id} and day - (
      select day from archive_page where ${ofChat} and last_id >= ${id} order by archive_page.last_id limit 1) > 0
    order by beyond.last_id limit 1), 9223372036854775807)`
