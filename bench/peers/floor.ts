/** The floor: Node's own server and one statement a request; it asks nobody who they are and checks nothing. */
import * as http from "node:http"
import { Pool } from "pg"
import { floorAccount, floorList, floorOrganization, type Statement } from "./statements.ts"

const { CONSOLE_DATABASE_URL: url = "", FLOOR_ORGANIZATION: organization = "" } = process.env

const pool = new Pool({ connectionString: url, max: 10 })

const rows = async ({ name, text }: Statement, ...values: Array<string>) =>
  (await pool.query({ name, text, values })).rows

const answer = async (path: string): Promise<unknown> => {
  if (path === "/v1/organization") return (await rows(floorOrganization, organization))[0]
  if (path === "/v1/accounts") return { object: "list", data: await rows(floorList, organization), has_more: true }
  return (await rows(floorAccount, organization, path.slice("/v1/accounts/".length)))[0]
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
