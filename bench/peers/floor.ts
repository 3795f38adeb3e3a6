/** The floor: Node's own server and one statement a request; it asks nobody who they are and checks nothing. */
import * as http from "node:http"
import { Pool } from "pg"

interface Statement {
  readonly name: string
  readonly text: string
}

/** What the list shows of an account, as it is stored. */
const list: Statement = {
  name: "list",
  text: `
    select id, first_name || ' ' || last_name as name, phone_number, role_label, department_id,
      monitoring_state as status, licence_tier, joined_at, offboarded_at, archive_live as has_key,
      archive_phase as archive_status, archive_messages, archive_media, archive_bytes, archive_last_backup_at,
      archive_next_backup_at, archive_updated_at, archive_live, archive_error, archive_phase,
      archive_chats_discovered, archive_chats_selected, archive_chats_with_data, archive_chats_complete,
      archive_chats_review, archive_chats_stopped, archive_last_sync_at
    from account
    join archive_state on archive_state.organization_id = account.organization_id and account_id = id
    where account.organization_id = $1 order by name_key, id limit 50`
}

const account: Statement = {
  name: "account",
  text: `
    select * from account
    join archive_state on archive_state.organization_id = account.organization_id and account_id = id
    where account.organization_id = $1 and id = $2`
}

const organizationOf: Statement = { name: "organization", text: "select * from organization where id = $1" }

const { FLOOR_DATABASE_URL: url = "", FLOOR_ORGANIZATION: organization = "" } = process.env

const pool = new Pool({ connectionString: url, max: 10 })

const rows = async ({ name, text }: Statement, ...values: Array<string>) =>
  (await pool.query({ name, text, values })).rows

const answer = async (path: string): Promise<unknown> => {
  if (path === "/v1/organization") return (await rows(organizationOf, organization))[0]
  if (path === "/v1/accounts") return { object: "list", data: await rows(list, organization), has_more: true }
  return (await rows(account, organization, path.slice("/v1/accounts/".length)))[0]
}

const server = http.createServer(async (request, response) => {
  const body = JSON.stringify(await answer((request.url ?? "").split("?", 1)[0] ?? ""))
  response.writeHead(200, { "content-type": "application/json", "content-length": Buffer.byteLength(body) })
  response.end(body)
})

server.listen(0, "127.0.0.1", () => {
  const address = server.address()
  console.log(`Listening on http://127.0.0.1:${typeof address === "object" && address !== null ? address.port : 0}`)
})

process.once("SIGTERM", () => process.exit(0))
