/** The time of a wrong password at the sign-in page: of admins' addresses, and of addresses that are nobody's. */
import { hash } from "@node-rs/argon2"
import * as http from "node:http"
import type { Ground } from "../support/ground.ts"

/** What is asked for; each address is asked for far less often than its limit. */
export const signInKinds = ["an admin's address", "nobody's address"] as const
export type SignInKind = (typeof signInKinds)[number]

/** How many addresses of each kind there are: a hundred failures of one are free. */
export const addressesFor = (attempts: number): number => Math.max(10, Math.ceil(attempts / 60))

/** Gives the organization's admins a console password. */
export const givePasswords = async (ground: Ground, organization: string): Promise<void> => {
  const made = await hash("a password that is not asked for", { memoryCost: 19_456, timeCost: 2, parallelism: 1 })
  await ground.superuser.query("update admin set password_hash = $1 where organization_id = $2", [made, organization])
}

/** Each attempt comes from a network address of its own, as the trusted proxy says. */
const post = (agent: http.Agent, address: string, from: string, form: URLSearchParams): Promise<number> =>
  new Promise((resolve, reject) => {
    const headers = { "content-type": "application/x-www-form-urlencoded", "x-forwarded-for": from }
    const url = new URL("/console/sign-in", address)
    const begun = process.hrtime.bigint()
    http.request(url, { agent, headers, method: "POST" }, (response) => {
      response.resume().once("error", reject).once("end", () => {
        const millis = Number(process.hrtime.bigint() - begun) / 1e6
        if (response.statusCode === 403) resolve(millis)
        else reject(new Error(`A wrong password answers ${response.statusCode}`))
      })
    }).once("error", reject).end(form.toString())
  })

/** Asks for both kinds in turn, in a random order, one attempt after another over one connection. */
export const timeSignIns = async (
  address: string,
  organization: string,
  attempts: number
): Promise<Record<SignInKind, ReadonlyArray<number>>> => {
  const agent = new http.Agent({ keepAlive: true, maxSockets: 1 })
  const times: Record<SignInKind, Array<number>> = { "an admin's address": [], "nobody's address": [] }
  const addresses = addressesFor(attempts)
  const warmUp = Math.min(100, Math.ceil(attempts / 10))
  let sent = 0
  try {
    for (let turn = -warmUp; turn < attempts; turn++) {
      const order = Math.random() < 0.5 ? signInKinds : signInKinds.toReversed()
      for (const kind of order) {
        const name = kind === "an admin's address" ? "admin" : "other"
        const email = `${name}${1 + (turn + warmUp) % addresses}@${organization}.example`
        const from = `10.${sent >> 16 & 255}.${sent >> 8 & 255}.${sent & 255}`
        sent += 1
        const form = new URLSearchParams({ organization, email, password: "wrong", return_to: "" })
        const millis = await post(agent, address, from, form)
        if (turn >= 0) times[kind].push(millis)
      }
    }
  } finally {
    agent.destroy()
  }
  return times
}
