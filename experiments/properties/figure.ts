/** What `npm run properties` has shown, as a figure. */
import * as fs from "node:fs"
import * as path from "node:path"
import { directory, type Figure, type Recorded } from "../../bench/support/figure.ts"
import type { Progress } from "./worker.ts"

/** One property, played to the end. */
export interface Played extends Progress {
  readonly property: "isolation" | "monotonicity" | "reach" | "watch" | "capture" | "archive"
  readonly seconds: number
}

export const figureOf = (played: ReadonlyArray<Played>, seed: string, workers: number): Figure => ({
  name: "properties",
  title: "Security properties over random sequences of requests",
  command: "npm run properties",
  text: [
    "Isolation: requests of admins of three organizations, of every role, with API keys and with applications' tokens that reach some accounts or departments, over REST and over MCP, are played in one order; then one organization's requests alone, from the same beginning at the same moments. What it was answered and every row that it has afterwards, journal and messenger included, must be the same but for ids, secrets and hashes that are new; and no answer holds an id, an address or a number of another organization. Each organization asks for usernames of its own, for the messenger has each of them once.",
    "Monotonicity: the same requests are played with some rights, and with a scope, a grant, a place of the token's reach, the role or the right to write taken away. What less was permitted is permitted with more, whatever less was shown is shown with more, and then the credential is revoked (by an operation, at the revocation endpoint, by its end, by a changed password, or by disabling the admin): the next request answers 401. A sequence is compared up to the first request that only one of the two was permitted, since they have changed different things from there on.",
    "Reach: an admin with grants, or an application of an owner, a superadmin or an admin that is limited to accounts or departments, connects people, signs accounts in anew, moves them between departments, takes them away, hands out access, roles and keys, and asks for anything else. After each act it reaches no account but those that it reached at the beginning and those that it has connected itself, and no other admin reaches more than before but of these.",
    "Watch: accounts of one organization are watched by the engine, over some days, while strangers sign in and out, change what raises signals and revoke the service's session; admins approve, sign out, pause, resume, lock, set passwords, sign in anew and leave; the messenger fails, asks to wait or loses answers; and the engine and operations die at any call to the database or the messenger. While a sign-out is on its way, an admin may approve or pause, or the session may end. What was stored, journaled and mailed is judged by rules that share nothing with the sources, by what happened in truth: who was signed out when nobody may be, what outlives its deadline or 23 hours, which account is not looked at for two periods, what is told once, by whom and why, intents and chain, statuses, mails, and the 2FA passwords that are held. A sequence is one account; a request is a deed, and a comparison a sign-out that was sent.",
    `Every other sequence begins from the same rows, so that one can be played again alone: seed “${seed}”, ${workers} processes, each with a database of its own on PostgreSQL 15; the requests go through the whole HTTP edge in the process. A comparison is an answer or a row of one organization.`
  ],
  tables: [{
    title: "Sequences played",
    columns: ["Property", "Sequences", "Requests", "Comparisons", "Findings", "Seconds"],
    rows: played.map(({ comparisons, findings, property, requests, seconds, sequences }) => [
      property,
      sequences,
      requests,
      comparisons,
      findings.length,
      Math.round(seconds)
    ])
  }],
  charts: []
})

/** A law of capture, which has a figure of its own. */
export const isLaw = (property: Played["property"]): boolean => property === "capture" || property === "archive"

const stores: Readonly<Record<string, string>> = {
  capture: "a model of the archive in memory",
  archive: "the archive itself, sealed and stored on PostgreSQL 15"
}

const lawsName = "capture-laws"

/** The rows of stores that were not played now. */
const keptRows = (played: ReadonlyArray<Played>): ReadonlyArray<ReadonlyArray<string | number>> => {
  const file = path.join(directory, `${lawsName}.json`)
  if (!fs.existsSync(file)) return []
  const { tables }: Recorded = JSON.parse(fs.readFileSync(file, "utf8"))
  return tables.flatMap(({ rows }) =>
    rows.filter(([store]) => played.every(({ property }) => stores[property] !== store))
  )
}

export const lawsOf = (played: ReadonlyArray<Played>, seed: string): Figure => ({
  name: lawsName,
  title: "The laws of capture over random histories",
  command: "npm run properties -- --property capture, and --property archive",
  text: [
    "People write, edit, delete, join, leave and migrate; messages expire without an update; pushes are lost, late, doubled and out of order, the logs of boxes are short, answers are shorter than asked, rules change at any moment, and the process dies before or after any of its commits and begins again. At each commit, and after quiet nights at the end, the archive is compared with what the account sees.",
    "The laws: no revision is archived twice, but as the newest of its second after another one (A1); after quiet nights the archive is what the account sees, and all else is marked (A2); nothing of a chat is stored while it is not selected (A3); a process that was killed at a commit changes none of that (A4); what counts as covered is archived (A5); counters are right (A6, in the database alone); what a process had in hand at a commit is archived, also where it is gone by then (A7); a group's successor is selected like it (A8); no call to the messenger is made inside a transaction (A9).",
    `Seed “${seed}”; two processes.`
  ],
  tables: [{
    title: "Histories played",
    columns: ["Store", "Histories", "Commits", "Deaths", "Findings", "Seconds", "Date"],
    rows: [
      ...keptRows(played),
      ...played.map(({ comparisons, findings, property, requests, seconds, sequences }) => [
        stores[property] ?? property,
        sequences,
        requests,
        comparisons,
        findings.length,
        Math.round(seconds),
        new Date().toISOString().slice(0, 10)
      ])
    ]
  }],
  charts: []
})
