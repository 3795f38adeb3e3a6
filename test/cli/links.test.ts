import { describe, expect, it } from "@effect/vitest"
import { dataDirectory, serve } from "../support/cli/commandLine.ts"
import { createAcme, doneInProcess, runInProcess } from "../support/cli/inProcess.ts"

const words = (data: string) => (text: string) => [...text.split(" "), "--data", data]

const owner = "olivia@acme.example"

/** The addresses of the links that a command prints. */
const addresses = (text: string) =>
  [...text.matchAll(/(\S+)\/console\/(invitation|reset)\?token=\S+/g)].map((
    [, address = "", page = ""]
  ) => `${page} ${address}`)

describe("the commands that make links", () => {
  it("print them with the address of the service that runs, or of its settings, and refuse to guess one", async () => {
    const data = dataDirectory()
    const of = words(data)
    await createAcme(data)
    const link = of(`admins invitation acme ${owner}`)
    const refused = await runInProcess(link)
    expect([refused.status, refused.stderr]).toEqual([
      1,
      "Nothing here says where people reach the console: set CONSOLE_BASE_URL as the service has it, or give --console-url.\n"
    ])
    const base = { env: { CONSOLE_BASE_URL: "https://console.example/at/" } }
    expect(addresses(await doneInProcess(link, base))).toEqual(["invitation https://console.example/at"])
    const own = { env: { ...base.env, CONSOLE_SITES: "acme=https://acme.example" } }
    expect(addresses(await doneInProcess(link, own))).toEqual(["invitation https://acme.example"])
    const given = [...link, "--console-url", "https://given.example/"]
    expect(addresses(await doneInProcess(given, own))).toEqual(["invitation https://given.example"])

    const service = await serve(["--data", data])
    // The running service knows its address, and it goes before the settings of the command.
    expect(addresses(await doneInProcess(link, base))).toEqual([`invitation ${service.address}`])
    await doneInProcess(of(`admins set-password acme ${owner}`), { stdin: "seven green lanterns hum\n" })
    const json = JSON.parse(await doneInProcess(of(`admins password-link acme ${owner} --json`)))
    expect(Object.keys(json).toSorted()).toEqual(["admin_id", "email", "expires_at", "link", "organization"])
    expect(addresses(json.link)).toEqual([`reset ${service.address}`])
    expect(await fetch(json.link).then(({ status }) => status)).toBe(200)
    // The refusal has made none.
    const journal = await doneInProcess(of("journal export acme"))
    expect(journal.match(/"action":"admin\.invitation_resent"/g)).toHaveLength(4)
    await service.stop()
  }, 60_000)
})
