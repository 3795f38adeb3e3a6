/** The messenger over its own protocol, by the settings. */
import { Effect, Layer, Option } from "effect"
import * as fs from "node:fs"
import { layerMessenger, type MessengerOptions } from "../../layers/Console.ts"
import * as Randomness from "../../layers/crypto/Randomness.ts"
import { Vault } from "../../layers/crypto/Vault.ts"
import * as Simulated from "../../layers/messenger/simulated/Simulated.ts"
import * as MessengerKeys from "../../layers/sql/messenger/MessengerKeys.ts"
import { MessengerAvailability } from "../../ports/messenger/MessengerAvailability.ts"
import type { MessengerState } from "../../transport/TransportSettings.ts"
import { version } from "../PackageFiles.ts"
import * as Settings from "../settings/Settings.ts"
import * as Environment from "./Environment.ts"

const invalid = (message: string) => new Environment.SettingInvalid({ message })

const required = <A>(value: Option.Option<A>, name: string) =>
  Option.match(value, {
    onNone: () => Effect.fail(invalid(`With --messenger wire the service needs ${name}.`)),
    onSome: Effect.succeed
  })

/** A data centre as `2@192.0.2.1:443` names it. */
const parseDataCentre = (text: string) => {
  const [, id, bracketed, plain, port] = /^(\d{1,4})@(?:\[([\da-f:.]+)\]|([^:@\s]+)):(\d{1,5})$/i.exec(text) ?? []
  const ipAddress = bracketed ?? plain
  return ipAddress === undefined || Number(port) > 65_535
    ? Effect.fail(
      invalid(
        `--messenger-data-centre is a number and an address such as 2@192.0.2.1:443, not ${JSON.stringify(text)}.`
      )
    )
    : Effect.succeed({ id: Number(id), ipAddress, port: Number(port), ipv6: bracketed !== undefined })
}

const parseKeys = (file: string) =>
  Effect.try({
    try: () => fs.readFileSync(file, "utf8"),
    catch: () => invalid(`--messenger-keys names a file that cannot be read: ${file}`)
  }).pipe(
    Effect.map((text) => text.match(/-----BEGIN RSA PUBLIC KEY-----[^-]*-----END RSA PUBLIC KEY-----/g) ?? []),
    Effect.filterOrFail(
      (keys) => keys.length > 0,
      () => invalid(`The file of --messenger-keys holds no RSA key in PEM (PKCS #1): ${file}`)
    )
  )

const options = Effect.fnUntraced(function*(settings: Settings.Messenger) {
  if (settings.messengerApplication === 0) {
    return yield* invalid("With --messenger wire the service needs --messenger-application.")
  }
  return {
    applicationId: settings.messengerApplication,
    applicationHash: yield* required(yield* Settings.messengerHash, "CONSOLE_MESSENGER_HASH"),
    dataCentre: yield* Effect.flatMap(
      required(settings.messengerDataCentre, "--messenger-data-centre"),
      parseDataCentre
    ),
    publicKeys: yield* Effect.flatMap(required(settings.messengerKeys, "--messenger-keys"), parseKeys),
    version
  }
})

/** The library is an optional peer dependency: without it the service runs without `--messenger wire`. */
const adapter = Effect.tryPromise({
  try: () => import("../../layers/messenger/wire/index.ts"),
  catch: () =>
    invalid(
      "With --messenger wire the service needs three packages: " +
        "npm install @mtcute/core@0.30.3 @mtcute/wasm@0.30.3 @fuman/node@0.0.20"
    )
})

/**
 * The layer, by settings that are checked before anything is opened. Workers on PostgreSQL share its sessions; the
 * simulated world is there for seeds alone.
 */
export const make = Effect.fnUntraced(
  function*(settings: Settings.Messenger & Settings.Database, process: MessengerOptions) {
    const how = yield* options(settings)
    const Messenger = yield* adapter
    const messenger = Messenger.layer(how).pipe(
      Layer.provide(MessengerKeys.layer),
      Layer.provide(Vault.layer),
      Layer.provide(Layer.merge(Environment.peppers(settings), Randomness.layer))
    )
    return Layer.merge(Simulated.layerSeeded, layerMessenger(messenger, process))
  }
)

/** The messenger's state for `/readyz`; null where it is not on the network. */
export const messengerStatus = Effect.map(Effect.serviceOption(MessengerAvailability), (reach) =>
  Option.match(reach, {
    onNone: () => Effect.succeed(null),
    onSome: (reach) => Effect.map(reach.away, (away): MessengerState => away.length === 0 ? "reached" : "away")
  }))
