/** The leaf of a page in its manifest, in SQL: that of a page that is being deleted. */
import type { SqlClient, Statement } from "effect/sql"

/** Of a row of `archive_page`: equal to `pageLeaf` in domain/archive/Manifest.ts. */
export const leafOf = (sql: SqlClient.SqlClient): Statement.Fragment =>
  sql.literal(
    `sha256('\\x00'::bytea || int8send(page_id) || int8send(chat_id) || int8send(first_id) || int8send(last_id)
            || int4send(day - date '1970-01-01') || int8send((extract(epoch from first_at) * 1000)::bigint)
            || int8send((extract(epoch from last_at) * 1000)::bigint) || int4send(messages::integer)
            || int4send(bytes) || sha256(ids) || digest || convert_to(kind, 'UTF8'))`
  )
