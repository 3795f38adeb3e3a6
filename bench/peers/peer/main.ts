/** The peer as a process of its own. */
import { makeApp } from "./app.ts"
import { openDatabase } from "./database.ts"

const { PEER_DATABASE_URL: url = "", PEER_PEPPER: pepper = "" } = process.env

const database = openDatabase(url)
const app = makeApp({ database, pepper: Buffer.from(pepper, "base64") })
const address = await app.listen({ host: "127.0.0.1", port: 0 })
console.log(`Listening on ${address}`)

process.once("SIGTERM", async () => {
  await app.close()
  await database.close()
})
