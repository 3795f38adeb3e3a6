/** The rules of a seed file that its schema does not hold. */
import { isPaired, resolve, type Seed, type SeedAccount } from "./Seed.ts"
import { at, type SeedFault } from "./SeedFault.ts"

/** The names that events have for the sessions of an account. */
const sessionsOf = ({ sessions = [], terminations = [] }: SeedAccount): ReadonlySet<string | undefined> =>
  new Set([
    ...sessions.map(({ device_model }) => device_model),
    ...terminations.map(({ session_id }) => session_id)
  ])

/** The faults of a well-formed file: duplicate names, and names of what is not in the organization. */
export const faults = (seed: Seed): ReadonlyArray<SeedFault> => {
  const found: Array<SeedFault> = []
  const unique = (path: ReadonlyArray<string | number>, names: ReadonlyArray<string | undefined>, last?: string) => {
    const seen = new Set<string>()
    names.forEach((name, index) => {
      if (name === undefined) return
      const where = last === undefined ? at(...path, index) : at(...path, index, last)
      if (seen.has(name.toLowerCase())) found.push({ path: where, message: `${name} is a duplicate` })
      seen.add(name.toLowerCase())
    })
  }
  unique(["organizations"], seed.organizations.map((each) => each.id), "id")
  seed.organizations.forEach((organization, index) => {
    const here = ["organizations", index] as const
    const accounts = organization.accounts ?? []
    const departments = organization.departments ?? []
    const known = {
      admin: new Set(organization.admins.map((admin) => admin.email)),
      account: new Set(accounts.map((account) => account.phone)),
      department: new Set(departments)
    }
    const refer = (kind: keyof typeof known, name: string, ...path: ReadonlyArray<string | number>) => {
      if (!known[kind].has(name)) {
        found.push({ path: at(...here, ...path), message: `there is no ${kind} ${name} here` })
      }
    }
    unique([...here, "departments"], departments)
    unique([...here, "admins"], organization.admins.map((admin) => admin.email), "email")
    unique([...here, "accounts"], accounts.map((account) => account.phone), "phone")
    unique([...here, "api_keys"], (organization.api_keys ?? []).map((key) => key.label), "label")
    const ages = (organization.status_samples ?? []).map((sample) => -resolve(sample.at, new Date(0)).getTime() / 1000)
    unique([...here, "status_samples"], ages.map((age) => `${age} seconds ago`), "at")
    if (organization.admins.filter((admin) => admin.role === "owner").length > 1) {
      found.push({ path: at(...here, "admins"), message: "an organization has one owner" })
    }
    organization.admins.forEach((admin, place) => {
      admin.accounts?.forEach((phone, each) => refer("account", phone, "admins", place, "accounts", each))
      admin.departments?.forEach((name, each) => refer("department", name, "admins", place, "departments", each))
    })
    organization.admins.forEach((admin, place) => {
      unique([...here, "admins", place, "accounts"], admin.accounts ?? [])
      unique([...here, "admins", place, "departments"], admin.departments ?? [])
    })
    accounts.forEach((account, place) => {
      const { chats = [], generated_messages: generated = 0 } = account.archive ?? {}
      unique([...here, "accounts", place, "archive", "chats"], chats.map(({ id }) => id), "id")
      if ((chats.length > 0 || generated > 0) && organization.archive?.password === undefined) {
        found.push({
          path: at(...here, "accounts", place, "archive"),
          message: "chats are sealed, and the organization's archive has no password"
        })
      }
      chats.forEach(({ messages }, chat) =>
        messages.forEach(({ files = [] }, message) =>
          files.forEach(({ base64, text }, file) => {
            if ((base64 === undefined) !== (text === undefined)) return
            found.push({
              path: at(...here, "accounts", place, "archive", "chats", chat, "messages", message, "files", file),
              message: "a file has its content as text or as base64"
            })
          })
        )
      )
      const sessions = account.sessions ?? []
      unique([...here, "accounts", place, "sessions"], sessions.map((session) => session.id), "id")
      if (sessions.filter((session) => session.current === true).length > 1) {
        found.push({ path: at(...here, "accounts", place, "sessions"), message: "an account has one current session" })
      }
      if (account.messenger?.paired === true && !sessions.some(isPaired)) {
        found.push({
          path: at(...here, "accounts", place, "messenger", "paired"),
          message: "there is no session of the service besides the current one"
        })
      }
      if (account.department !== undefined) refer("department", account.department, "accounts", place, "department")
      account.sessions?.forEach((session, each) => {
        if (session.approved_by !== undefined) {
          refer("admin", session.approved_by, "accounts", place, "sessions", each, "approved_by")
        }
      })
    })
    const sessions = new Map(accounts.map((account) => [account.phone, sessionsOf(account)]))
    const moments = (organization.journal ?? []).map((event) => resolve(event.at, new Date(0)).getTime())
    organization.journal?.forEach(({ account, by, session }, place) => {
      const here = ["journal", place] as const
      if (by.includes("@")) refer("admin", by, ...here, "by")
      if (account !== undefined) refer("account", account, ...here, "account")
      if (session !== undefined && sessions.get(account ?? "")?.has(session) !== true) {
        found.push({ path: at("organizations", index, ...here, "session"), message: "the account has no such session" })
      }
      if ((moments[place - 1] ?? -Infinity) > (moments[place] ?? 0)) {
        found.push({ path: at("organizations", index, ...here, "at"), message: "it is before the event before it" })
      }
    })
    organization.api_keys?.forEach((key, place) => refer("admin", key.admin, "api_keys", place, "admin"))
    organization.support_requests?.forEach(({ admin }, place) =>
      refer("admin", admin, "support_requests", place, "admin")
    )
    organization.ai_connections?.forEach((connection, place) => {
      refer("admin", connection.admin, "ai_connections", place, "admin")
      connection.accounts?.forEach((phone, each) => refer("account", phone, "ai_connections", place, "accounts", each))
      connection.departments?.forEach((name, each) =>
        refer("department", name, "ai_connections", place, "departments", each)
      )
    })
  })
  unique(
    ["messenger", "taken_usernames"],
    [
      ...(seed.messenger?.taken_usernames ?? []),
      ...seed.organizations.flatMap((organization) => (organization.accounts ?? []).map((account) => account.username))
    ]
  )
  return found
}
