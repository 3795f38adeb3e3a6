import { expect, it } from "@effect/vitest"
import { Effect, Redacted } from "effect"
import * as crypto from "node:crypto"
import * as fs from "node:fs"
import * as path from "node:path"
import { setTimeout as pause } from "node:timers/promises"
import { AccountId } from "../../src/domain/accounts/Account.ts"
import { slotCount, slotOf } from "../../src/domain/accounts/Slot.ts"
import * as Pages from "../readme/pages.ts"
import { ask, freshDirectory, serve, until } from "../support/cli/commandLine.ts"
import { doneInProcess } from "../support/cli/inProcess.ts"
import { listensAt } from "../support/cli/listening.ts"
import * as DataCentre from "../support/dataCentre/index.ts"
import { postgresUrl } from "../support/postgres/database.ts"
import { superuser } from "../support/postgres/superuser.ts"

const owner = "olivia@acme.example"
const phone = "4915770099003"

/** The commands of the page, without their ports, which may be in use here. */
const shells = () => {
  const [, text = ""] = /^### More than one worker\n([^]*?)^## /m.exec(Pages.read("docs/operations.md")) ?? []
  const [block] = Pages.blocks(text)
  const commands = block?.code.trim().split("\n").map((line) => /^security-console serve --port (\d+)$/.exec(line)?.[1])
  expect(commands).toEqual(["8081", "8082", "8083"])
  return commands ?? []
}

/** What a process may log beside the lines of requests. */
const expected =
  /^\S+ (?:INFO {2}(?:This process watches accounts|GET |POST )|WARN {2}The messenger is not available no answer)/

it.live(
  "of three processes that three shells start, the one that watches an account is killed, and the other two take it over",
  () =>
    Effect.gen(function*() {
      const { centre, world } = yield* DataCentre.Loopback
      const url = yield* postgresUrl
      const client = yield* superuser(url)
      const keys = path.join(freshDirectory(), "data-centres.pem")
      fs.mkdirSync(path.dirname(keys), { recursive: true })
      fs.writeFileSync(keys, centre.publicKey)
      const secret = crypto.randomBytes(32).toString("base64")
      const env = {
        CONSOLE_DATABASE_URL: url,
        CONSOLE_PEPPERS: secret,
        CONSOLE_CHECKPOINT_KEYS: secret,
        CONSOLE_CSRF_KEYS: secret,
        CONSOLE_MESSENGER: "wire",
        CONSOLE_MESSENGER_APPLICATION: "12345",
        CONSOLE_MESSENGER_HASH: "0".repeat(32),
        CONSOLE_MESSENGER_DATA_CENTRE: `1@127.0.0.1:${centre.port}`,
        CONSOLE_MESSENGER_KEYS: keys,
        CONSOLE_LOG_FORMAT: "pretty"
      }
      const run = Effect.runPromiseWith(yield* Effect.context<never>())
      yield* Effect.promise(async () => {
        const command = (...args: ReadonlyArray<string>) => doneInProcess([...args], { env })
        await command("organizations", "create", "acme", "--name", "Acme", "--owner", owner, "--seats", "3")
        const scopes = "org:read,accounts:write,security:write"
        const made = await command("keys", "create", "acme", owner, "--label", "K", "--scopes", scopes, "--json")
        const { key }: { readonly key: string } = JSON.parse(made)
        const services = await Promise.all(shells().map(() => serve([], env)))
        const held = "select address, count(*)::int as slots from cluster_locks group by address"
        const shares = async () => (await client.query<{ address: string; slots: number }>(held)).rows

        const [first] = services
        if (first === undefined) throw new Error("No process was started")
        const userId = await run(world.createAccount({ phone, first_name: "Ada" }))
        await run(world.logIn(userId, { device_model: "Phone" }))
        const begun = await ask(first.address, key, "POST", "/v1/logins", { phone_number: `+${phone}` })
        const code = (await run(world.codes)).at(-1)?.code ?? Redacted.make("")
        const confirmation = { code: Redacted.value(code) }
        const done = await ask(first.address, key, "POST", `/v1/logins/${begun.body.id}/code`, confirmation)
        const account = AccountId.make(done.body.account_id)
        const profile = async (address: string) =>
          (await ask(address, key, "GET", `/v1/accounts/${account}/messenger-profile`)).status
        const isServedBy = async (those: typeof services) => {
          // Seldom enough for the budget of one key.
          await pause(300)
          const statuses = await Promise.all(those.map(({ address }) => profile(address)))
          return statuses.every((status) => status === 200)
        }
        await until(() => isServedBy(services))

        const { rows: [row] } = await client.query<{ address: string }>(
          "select address from cluster_locks where split_part(shard_id, ':', 2)::int - 1 = $1",
          [slotOf(account)]
        )
        const port = Number(row?.address.split(":").at(-1))
        const victim = services.find(({ pid }) => listensAt(pid, port))
        expect(victim).toBeDefined()
        await victim?.stop("SIGKILL")
        const others = services.filter((service) => service !== victim)
        await until(() => isServedBy(others))
        const living = async () => (await shares()).filter(({ address }) => address !== row?.address)
        await until(async () => (await living()).reduce((sum, { slots }) => sum + slots, 0) === slotCount)
        for (const { stderr } of others) {
          expect(stderr().split("\n").filter((line) => line !== "" && !expected.test(line))).toEqual([])
        }
      })
    }).pipe(Effect.provide(DataCentre.layer)),
  60_000
)
