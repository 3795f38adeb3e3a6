/** The demo: its organization, who signs in to it, and the key that each start makes. */
import { Clock, Console, Effect, Redacted } from "effect"
import { SqlClient } from "effect/sql"
import * as fs from "node:fs"
import { OrganizationId } from "../domain/Access.ts"
import { PasswordHasher } from "../layers/crypto/PasswordHasher.ts"
import * as Loader from "../layers/seed/Loader.ts"
import * as Provisioning from "../layers/sql/Provisioning.ts"
import * as Tenant from "../layers/sql/Tenant.ts"
import { Db } from "../ports/Db.ts"
import { Journal } from "../ports/Journal.ts"
import { SettingInvalid } from "./Environment.ts"
import * as Output from "./Output.ts"

const file = new URL("../../seeds/demo.json", import.meta.url)

const organizationId = OrganizationId.make("demo")
const owner = "olivia@demo.example"

/** The owner's password, no secret: the demo listens on loopback alone, and holds nothing of anybody. */
const password = Redacted.make("demo lantern by the harbour")

const startLabel = "Demo start"

/** What the greeting says of the demo besides its addresses. */
export interface Demo {
  /** Keys that work, to be shown this once; on the first start one for each of three roles. */
  readonly keys: ReadonlyArray<{ readonly label: string; readonly key: Redacted.Redacted }>
  readonly first: boolean
  /** Null where the owner has another password by now, or may not sign in. */
  readonly password: Redacted.Redacted | null
}

/** Fails unless everything in the database is simulated, and answers how many organizations there are. */
const refuseOthers = Effect.gen(function*() {
  const sql = yield* SqlClient.SqlClient
  const organizations = yield* Tenant.directory(sql)(sql<{ simulated: boolean }>`select simulated from organization`)
  if (organizations.some(({ simulated }) => !simulated)) {
    return yield* new SettingInvalid({
      message: "--demo refuses a database that holds organizations of its own: the messenger would be simulated."
    })
  }
  return organizations.length
})

interface OwnerRow {
  readonly id: string
  readonly password_hash: string | null
}

const findOwner = Effect.gen(function*() {
  const sql = yield* SqlClient.SqlClient
  const [row] = yield* Tenant.transaction(sql, organizationId, { access: "read" })(sql<OwnerRow>`
    select id, password_hash from admin
    where organization_id = ${organizationId} and email = ${owner} and disabled_at is null`)
  return row
})

/** Gives the owner a password where there is none; the keys made before keep working. */
const giveAdmission = Effect.fnUntraced(function*({ id, password_hash }: OwnerRow) {
  const sql = yield* SqlClient.SqlClient
  const hasher = yield* PasswordHasher
  if (password_hash !== null) return (yield* hasher.verify(password_hash, password)) ? password : null
  const hashed = yield* hasher.hash(password)
  yield* Tenant.transaction(sql, organizationId)(sql`
    update admin set password_hash = ${hashed} where organization_id = ${organizationId} and id = ${id}`)
  return password
})

/** Makes the owner's key of this start, in place of the one of the start before. */
const renewKey = Effect.fnUntraced(function*(adminId: string) {
  const sql = yield* SqlClient.SqlClient
  const db = yield* Db
  const journal = yield* Journal
  const at = new Date(yield* Clock.currentTimeMillis)
  return yield* db.transaction(
    organizationId,
    Effect.gen(function*() {
      const earlier = yield* Effect.orDie(sql<{ id: string }>`
        update api_key set revoked_at = ${at}
        where organization_id = ${organizationId} and label = ${startLabel} and revoked_at is null returning id`)
      const { id, key } = yield* Provisioning.apiKey(organizationId, adminId, { label: startLabel })
      const details = { label: startLabel, email: owner }
      const entries = [
        ...earlier.map((each) =>
          Provisioning.operatorEntry("api_key.revoked", organizationId, { targetId: each.id, details })
        ),
        Provisioning.operatorEntry("api_key.created", organizationId, { targetId: id, details })
      ]
      for (const entry of entries) yield* journal.append(organizationId, entry)
      return key
    })
  )
})

const shown = ["Demo owner", "Demo admin", "Demo billing"]

/** Fills an empty database with the demo organization, and answers what the greeting says of it. */
export const prepare = Effect.gen(function*() {
  const first = (yield* refuseOthers) === 0
  const made = first
    ? (yield* Loader.load(yield* Loader.decode(JSON.parse(fs.readFileSync(file, "utf8"))))).keys
    : []
  const admin = yield* findOwner
  if (admin === undefined) return { keys: [], first, password: null }
  const admission = yield* giveAdmission(admin)
  const keys = first
    ? made.filter(({ label }) => shown.includes(label))
    : [{ label: "Demo owner", key: yield* renewKey(admin.id) }]
  return { keys, first, password: admission }
})

const keysText = ({ first, keys }: Demo): string => {
  if (keys.length === 0) return "The demo's owner is disabled or gone: start over with the last line below."
  const heading = first ? "Its keys are shown this once:" : "A key of this start, in place of the last start's:"
  return [heading, "", ...keys.map(({ key, label }) => `  ${label.padEnd(14)} ${Redacted.value(key)}`)].join("\n")
}

const tryText = (address: string, { keys }: Demo): string => {
  const [first] = keys
  return first === undefined ? "" : `
Try it:

  export KEY=${Redacted.value(first.key)}
  curl -s -H "Authorization: Bearer $KEY" ${address}/v1/organization
  curl -s -H "Authorization: Bearer $KEY" "${address}/v1/accounts?limit=3"
  ACCOUNT=$(curl -s -H "Authorization: Bearer $KEY" "${address}/v1/accounts?status=protected&limit=1" | sed 's/.*"id":"\\([^"]*\\)".*/\\1/')
  curl -s -X POST -H "Authorization: Bearer $KEY" ${address}/v1/accounts/$ACCOUNT/pause
  curl -s -H "Authorization: Bearer $KEY" "${address}/v1/journal?limit=1"
`
}

/** What a person does next, at every start: addresses, how to sign in, and lines that work when they are pasted. */
export const greet = (address: string, demo: Demo, data: string | null) => {
  const told = data === null ? "" : ` --data ${Output.shellWord(data)}`
  const signIn = demo.password === null
    ? `the password that you have set`
    : `password: ${Redacted.value(demo.password)}`
  return Console.log(`
The demo organization is \`demo\`; its messenger is simulated. Ctrl+C stops it.

  API            ${address}/v1
  Reference      ${address}/docs
  Assistants     ${address}/mcp
  Console        ${address}/console
                 organization: demo, email: ${owner}
                 ${signIn}

${keysText(demo)}

Another key, in another terminal, while the demo runs or not:

  ${Output.program} keys create demo ${owner} --label "My key" --scopes org:read,accounts:write${told}
${
    data === null ? "" : `
From the beginning, once it is stopped:

  ${Output.program} demo reset${told}
`
  }${tryText(address, demo)}`)
}
