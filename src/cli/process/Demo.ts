/** The demo: its organization, who signs in to it, and the key that each start makes. */
import { Console, Effect, Redacted } from "effect"
import * as fs from "node:fs"
import { byOperator, record } from "../../changes/Record.ts"
import { defaultApiKeyExpiry } from "../../domain/Limits.ts"
import { after } from "../../domain/Moments.ts"
import { OrganizationId, type Role, Scope } from "../../domain/people/Access.ts"
import * as Provisioning from "../../layers/sql/Provisioning.ts"
import { now } from "../../operator/Journaled.ts"
import { IssuedCredentials } from "../../ports/credentials/IssuedCredentials.ts"
import { Db } from "../../ports/Db.ts"
import { Directory } from "../../ports/organization/Directory.ts"
import { Admins } from "../../ports/people/Admins.ts"
import { archivePasswordHeader } from "../../transport/Extras.ts"
import * as Output from "../commands/Output.ts"
import { demoSeed } from "../PackageFiles.ts"
import { SettingInvalid } from "./Environment.ts"
import * as Seeding from "./Seeding.ts"

const organizationId = OrganizationId.make("demo")
const owner = "olivia@demo.example"

/** The admins' password, no secret: the demo listens only on loopback, and has no real data. */
const password = Redacted.make("demo lantern by the harbour")

/** The password of the seed's archive, no secret either. */
const archivePassword = Redacted.make("harbour lantern archive")

/** The account of the seed that has archived chats, by its number, and one of them. */
const archivedNumber = "+31612340005"
const archivedChat = "5000000002"
const archivedWord = "discount"

const startLabel = "Demo start"

/** One who can sign in to the console. */
interface DemoAdmin {
  readonly email: string
  readonly role: Role
  /** Null where the admin has another password by now. */
  readonly password: Redacted.Redacted | null
}

/** The facts of the demo in the greeting, besides its addresses. */
export interface Demo {
  /** Keys that work, to be shown this once; on the first start one for each of three roles. */
  readonly keys: ReadonlyArray<{ readonly label: string; readonly key: Redacted.Redacted }>
  readonly first: boolean
  readonly admins: ReadonlyArray<DemoAdmin>
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

/** The admins who have joined and can sign in, each with the demo's password where there is no other. */
const admitAdmins = Effect.gen(function*() {
  const all = yield* (yield* Db).read(organizationId, Effect.flatMap(Admins, (admins) => admins.list(organizationId)))
  const admitted = all.filter(({ disabled_at, joined_at }) => disabled_at === null && joined_at !== null)
  return yield* Effect.forEach(
    admitted,
    ({ email, id, role }) =>
      Effect.map(Provisioning.password(organizationId, id, password), (given) => ({
        id,
        email,
        role,
        password: given ? password : null
      }))
  )
})

/** Makes the owner's key of this start, in place of the one of the start before. */
const renewKey = Effect.fnUntraced(function*(adminId: string) {
  const db = yield* Db
  const issued = yield* IssuedCredentials
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
        yield* record(byOperator(organizationId), "api_key.revoked", { id }, details)
      }
      const { id, secret } = yield* issued.issueApiKey(
        { organizationId, adminId },
        {
          label: startLabel,
          scopes: Scope.literals,
          expiresAt: after(at, defaultApiKeyExpiry)
        },
        at
      )
      yield* record(byOperator(organizationId), "api_key.created", { id }, details)
      return secret
    })
  )
})

const shown = ["Demo owner", "Demo admin", "Demo billing"]

/**
 * Fills an empty database with the demo organization, and returns the facts for the greeting. A process without the
 * interface makes no key: it would take the place of one that another process has printed.
 */
export const prepare = Effect.fnUntraced(function*({ api }: { readonly api: boolean }) {
  const first = (yield* refuseOthers) === 0
  const made = first
    ? (yield* Seeding.load(JSON.parse(fs.readFileSync(demoSeed, "utf8")))).keys
    : []
  const admins = yield* admitAdmins
  const keys = first
    ? made.filter(({ label }) => shown.includes(label))
    : yield* Effect.forEach(
      admins.filter(({ email }) => api && email === owner),
      ({ id }) => Effect.map(renewKey(id), (key) => ({ label: "Demo owner", key }))
    )
  return { keys, first, admins }
})

/** The header that opens the seed's archive. */
const opened = `Archive-Password: ${archivePasswordHeader(archivePassword)["archive-password"]}`

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

Its archived messages, with the archive password of the demo in base64url:

  ARCHIVED=$(curl -s -H "Authorization: Bearer $KEY" ${address}/v1/archive/accounts | sed 's/.*"id":"\\([^"]*\\)","name":"[^"]*","phone_number":"${archivedNumber}".*/\\1/')
  curl -s -H "Authorization: Bearer $KEY" -H "${opened}" "${address}/v1/archive/accounts/$ARCHIVED/chats/${archivedChat}/messages?limit=3"

And a search of all of them:

  curl -s -H "Authorization: Bearer $KEY" -H "${opened}" -H "Content-Type: application/json" -d '{"query":"${archivedWord}"}' ${address}/v1/archive/search

And that chat as pages to read, in a ZIP, which is compared with its manifest:

  CONSOLE_API_KEY=$KEY CONSOLE_ARCHIVE_PASSWORD="${
    Redacted.value(archivePassword)
  }" ${Output.program} archive export --url ${address} --account $ARCHIVED --chat ${archivedChat} --format html
  ${Output.program} archive verify-export archive-export-*.zip

An assistant that opens the archive on your own machine; once it is allowed in a browser, this prints its settings:

  ${Output.program} bridge --url ${address} --sign-in
${Output.isClone ? `\n\`security-console\`, as pages and documents write it, is \`${Output.program}\` here.\n` : ""}`
}

const signInText = ({ admins }: Demo): string => {
  const pad = " ".repeat(17)
  const people = Output.columns(admins.map(({ email, password, role }) => [
    email,
    role,
    password === null ? "with the password that was set" : `password: ${Redacted.value(password)}`
  ]))
  return ["organization: demo, and one of:", ...people].map((line) => `${pad}${line}`).join("\n")
}

/** The greeting of a process that watches and serves no interface; a first start has keys to show. */
export const greetWorker = (demo: Demo) =>
  Console.log(`
This process watches the accounts of the demo, and answers nothing but /healthz and /readyz. The API and the console
are at the address of the process with the role api.
Ctrl+C stops it.
${demo.keys.length === 0 ? "" : `\n${keysText(demo)}\n`}`)

/** A person's next steps, at every start: addresses, how to sign in, and lines that work when they are pasted. */
export const greet = (address: string, demo: Demo, data: string | null) => {
  const dataFlag = Output.dataFlag(data)
  return Console.log(`
The demo organization is \`demo\`; its messenger is simulated, and strangers sign in to its accounts now and then.
To connect: +31612340021, and +31612340022 (2FA password: blue bicycle). Strangers and the codes sent to
people and addresses show up here.
Ctrl+C stops it.

  API            ${address}/v1
  Reference      ${address}/docs
  Assistants     ${address}/mcp
  Console        ${address}/console
${signInText(demo)}
  Archive        password: ${Redacted.value(archivePassword)}

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
