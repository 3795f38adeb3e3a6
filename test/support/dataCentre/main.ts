/**
 * A data centre to try `serve --messenger wire` with: `npm run data-centre`, with `--keys FILE` for its public key.
 *
 * It has one person, prints the codes that they get, and takes what happens to them from its input. What it knows lasts
 * as long as it runs.
 */
import { Console, Effect, Layer, Logger, Redacted, Schedule } from "effect"
import * as fs from "node:fs"
import * as os from "node:os"
import * as path from "node:path"
import * as readline from "node:readline"
import { parseArgs } from "node:util"
import * as DataCentre from "./index.ts"

const phone = "4915112345678"

const { values } = parseArgs({
  options: { keys: { type: "string", default: path.join(os.tmpdir(), "data-centre.pem") } }
})

const main = Effect.gen(function*() {
  const { centre, world } = yield* DataCentre.Loopback
  const person = yield* Effect.orDie(world.createAccount({ phone, first_name: "Ada", last_name: "Lovelace" }))
  yield* world.logIn(person, { device_model: "Phone" })
  fs.writeFileSync(values.keys, centre.publicKey)
  yield* Console.log(`A data centre with one person, whose number is +${phone}. In another terminal:

  export CONSOLE_MESSENGER_HASH=${"0".repeat(32)}
  npm run cli -- serve --messenger wire --messenger-application 1 \\
    --messenger-data-centre 1@127.0.0.1:${centre.port} --messenger-keys ${values.keys}

Type what happens: "stranger" signs in, "password TEXT" sets a 2FA password, "down" and "up" are the data centre's.`)

  const happens: Readonly<Record<string, (text: string) => Effect.Effect<unknown>>> = {
    stranger: () => world.logIn(person, { device_model: "Pixel 9", country: "Nowhere" }),
    password: (text) => world.changeSecurity(person, { two_fa_password: text === "" ? null : Redacted.make(text) }),
    down: () => Effect.promise(centre.down),
    up: () => Effect.promise(centre.up)
  }
  const run = Effect.runPromiseWith(yield* Effect.context<never>())
  readline.createInterface({ input: process.stdin }).on("line", (line) => {
    const [what = "", ...text] = line.trim().split(" ")
    void run(happens[what]?.(text.join(" ")) ?? Console.log(`Nobody knows "${what}".`))
  })

  let printed = 0
  const codes = Effect.flatMap(
    world.codes,
    (all) =>
      Effect.forEach(all.filter(({ sentAt }) => sentAt.getTime() > printed), ({ code, sentAt }) => {
        printed = sentAt.getTime()
        return Console.log(`Ada's code: ${Redacted.value(code)}`)
      })
  )
  yield* Effect.repeat(codes, Schedule.spaced("500 millis"))
})

Effect.runPromise(Effect.provide(main, Layer.merge(DataCentre.layer, Logger.layer([])))).catch((cause: unknown) => {
  console.error(cause)
  process.exit(1)
})
