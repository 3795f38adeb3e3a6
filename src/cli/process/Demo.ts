/** The demo: its organization, who signs in to it, and the key that each start makes. */
import { Console, Duration, Effect, Redacted } from "effect"
import * as fs from "node:fs"
import { defaultApiKeyExpiry } from "../../domain/Limits.ts"
import { OrganizationId, Scope } from "../../domain/people/Access.ts"
import * as Loader from "../../layers/seed/SeedLoader.ts"
import * as Provisioning from "../../layers/sql/Provisioning.ts"
import { entry, now } from "../../operator/Journaled.ts"
import { IssuedCredentials } from "../../ports/credentials/IssuedCredentials.ts"
import { Db } from "../../ports/Db.ts"
import { Journal } from "../../ports/journal/Journal.ts"
import { Directory } from "../../ports/organization/Directory.ts"
import { Admins } from "../../ports/people/Admins.ts"
import * as Output from "../commands/Output.ts"
import { demoSeed } from "../PackageFiles.ts"
import { SettingInvalid } from "./Environment.ts"

const organizationId = OrganizationId.make("demo")
const owner = "olivia@demo.example"

/** The owner's password, no secret: the demo listens only on loopback, and has no real data. */
const password = Redacted.make("demo lantern by the harbour")

const startLabel = "Demo start"

/** The facts of the demo in the greeting, besides its addresses. */
export interface Demo {
  /** Keys that work, to be shown this once; on the first start one for each of three roles. */
  readonly keys: ReadonlyArray<{ readonly label: string; readonly key: Redacted.Redacted }>
  readonly first: boolean
  /** Null where the owner has another password by now, or may not sign in. */
  readonly password: Redacted.Redacted | null
}

/** Fails unless everything in the database is simulated, and answers how many organizations there are. */
const refuseOthers = Effect.gen(function*() {
  const organizations = yield* (yield* Directory).organizations
  if (organizations.some(({ simulated }) => !simulated)) {
    return yield* new SettingInvalid({
      message: "--demo refuses a database that holds organizations of its own: the messenger would be simulated."
    })
  }
  return organizations.length
})

/** The owner; none where they are disabled or gone. */
const findOwner = Effect.gen(function*() {
  const db = yield* Db
  const admins = yield* Admins
  const found = yield* db.read(organizationId, admins.findByEmail(organizationId, owner, false))
  return found === null || found.disabled_at !== null ? null : found
})

/** Makes the owner's key of this start, in place of the one of the start before. */
const renewKey = Effect.fnUntraced(function*(adminId: string) {
  const db = yield* Db
  const issued = yield* IssuedCredentials
  const journal = yield* Journal
  const at = yield* now
  return yield* db.transaction(
    organizationId,
    Effect.gen(function*() {
      const details = { label: startLabel, email: owner }
      const earlier = (yield* issued.apiKeys(organizationId)).filter(({ label, revoked_at }) =>
        label === startLabel && revoked_at === null
      )
      for (const { id } of earlier) {
        yield* issued.lockApiKey(organizationId, id)
        yield* issued.revokeApiKey(organizationId, id, at)
        yield* journal.append(organizationId, entry("api_key.revoked", id, details))
      }
      const { id, secret } = yield* issued.issueApiKey(
        { organizationId, adminId },
        {
          label: startLabel,
          scopes: Scope.literals,
          expiresAt: new Date(at.getTime() + Duration.toMillis(defaultApiKeyExpiry))
        },
        at
      )
      yield* journal.append(organizationId, entry("api_key.created", id, details))
      return secret
    })
  )
})

const shown = ["Demo owner", "Demo admin", "Demo billing"]

/** Fills an empty database with the demo organization, and returns the facts for the greeting. */
export const prepare = Effect.gen(function*() {
  const first = (yield* refuseOthers) === 0
  const made = first
    ? (yield* Loader.load(yield* Loader.decode(JSON.parse(fs.readFileSync(demoSeed, "utf8"))))).keys
    : []
  const admin = yield* findOwner
  if (admin === null) return { keys: [], first, password: null }
  const isOwners = yield* Provisioning.password(organizationId, admin.id, password)
  const keys = first
    ? made.filter(({ label }) => shown.includes(label))
    : [{ label: "Demo owner", key: yield* renewKey(admin.id) }]
  return { keys, first, password: isOwners ? password : null }
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
  curl -s -H "Authorization: Bearer $KEY" "${address}/v1/journal?account_id=$ACCOUNT&limit=1"
`
}

/** What a person does next, at every start: addresses, how to sign in, and lines that work when they are pasted. */
export const greet = (address: string, demo: Demo, data: string | null) => {
  const dataFlag = Output.dataFlag(data)
  const signIn = demo.password === null
    ? `the password that you have set`
    : `password: ${Redacted.value(demo.password)}`
  return Console.log(`
The demo organization is \`demo\`; its messenger is simulated, and strangers sign in to its accounts now and then.
To connect: +31612340021, and +31612340022 (2FA password: blue bicycle). Codes sent to people and addresses show up here.
Ctrl+C stops it.

  API            ${address}/v1
  Reference      ${address}/docs
  Assistants     ${address}/mcp
  Console        ${address}/console
                 organization: demo, email: ${owner}
                 ${signIn}

${keysText(demo)}

Another key, in another terminal, while the demo runs or not:

  ${Output.program} keys create demo ${owner} --label "My key" --scopes org:read,accounts:write${dataFlag}
${
    data === null ? "" : `
From the beginning, once it is stopped:

  ${Output.program} demo reset --data ${Output.shellWord(data)}
`
  }${tryText(address, demo)}`)
}
