/** The counters of accounts' chats. */
import type { SqlClient, Statement } from "effect/sql"

/** Counts the chats of the accounts again, but of those of which none was seen on the messenger. */
export const countChats = (sql: SqlClient.SqlClient, organizationId: string, accounts: Statement.Fragment) =>
  sql`
          update archive_state set archive_chats_discovered = counted.discovered, archive_chats_selected = counted.selected,
            archive_chats_with_data = counted.filled, archive_chats_complete = counted.complete,
            archive_chats_review = counted.review, archive_chats_stopped = counted.stopped,
            archive_live = counted.live
          from (
            select account_id, count(ref) as seen, count(*) as discovered,
              count(*) filter (where effect = 'archive') as selected,
              count(*) filter (where messages > 0) as filled, count(*) filter (where complete) as complete,
              count(*) filter (where effect = 'review') as review,
              count(*) filter (where effect = 'archive' and stopped_by is not null) as stopped,
              coalesce(bool_or(live and effect = 'archive'), false) as live
            from archive_chat where organization_id = ${organizationId} and account_id in (${accounts})
            group by account_id
          ) as counted
          where archive_state.organization_id = ${organizationId} and archive_state.account_id = counted.account_id
            and counted.seen > 0
            and (archive_chats_discovered, archive_chats_selected, archive_chats_with_data, archive_chats_complete,
              archive_chats_review, archive_chats_stopped, archive_live)
              is distinct from (counted.discovered, counted.selected, counted.filled, counted.complete, counted.review,
                counted.stopped, counted.live)`

/** Looks whether the rules select chats of the accounts, also of those of which none was seen yet. */
export const countRules = (sql: SqlClient.SqlClient, organizationId: string, accounts: Statement.Fragment) =>
  sql`
          update archive_state set archive_selects = ruled.selects
          from (
            select id, rules_select(organization_id, id, department_id) as selects from account
            where organization_id = ${organizationId} and id in (${accounts})
          ) as ruled
          where archive_state.organization_id = ${organizationId} and archive_state.account_id = ruled.id
            and archive_selects <> ruled.selects`
