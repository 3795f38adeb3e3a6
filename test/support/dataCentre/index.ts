/** The messenger over its own protocol, over a data centre on loopback in front of the simulated platform. */
import { Context, Effect, Layer, Redacted } from "effect"
import * as crypto from "node:crypto"
import * as Keys from "../../../src/layers/memory/MessengerKeys.ts"
import * as Simulated from "../../../src/layers/messenger/simulated/Simulated.ts"
import { SimulatedChats } from "../../../src/layers/messenger/simulated/SimulatedChats.ts"
import { SimulatedPlatform } from "../../../src/layers/messenger/simulated/SimulatedPlatform.ts"
import * as Messenger from "../../../src/layers/messenger/wire/index.ts"
import { MessengerArchive } from "../../../src/ports/messenger/MessengerArchive.ts"
import { MessengerKeys } from "../../../src/ports/messenger/MessengerKeys.ts"
import { MessengerSession } from "../../../src/ports/messenger/MessengerSession.ts"
import { Ownership } from "../../../src/ports/messenger/Ownership.ts"
import type { DataCentre } from "./DataCentre.ts"
import * as Platform from "./Platform.ts"

/** The data centre, and the world behind it in which sessions are made with a key. */
export class Loopback extends Context.Service<Loopback, {
  readonly centre: DataCentre
  readonly centres: ReadonlyArray<DataCentre>
  /** The data centres, by their numbers, that have the accounts of phone numbers. */
  readonly homes: Map<string, number>
  readonly world: SimulatedPlatform["Service"]
}>()("test/Loopback") {}

/** The name under which the adapter keeps the key of the one data centre. */
const keyName = "key:1"

const centres = new WeakMap<SimulatedPlatform["Service"], DataCentre>()

/** The data centre in front of a world. */
export const centreOf = (world: SimulatedPlatform["Service"]): DataCentre => {
  const centre = centres.get(world)
  if (centre === undefined) throw new Error("A world without a data centre")
  return centre
}

type Started = Effect.Success<ReturnType<typeof Platform.start>>

const world = (
  outside: SimulatedPlatform["Service"],
  { centres: [centre], changed }: Started,
  keys: MessengerKeys["Service"]
): SimulatedPlatform["Service"] => ({
  ...outside,
  createAccount: (account) =>
    Effect.tap(
      outside.createAccount(account),
      (userId) => Effect.sync(() => changed(userId, account.phone, account.security ?? {}))
    ),
  changeSecurity: (userId, change) =>
    Effect.tap(outside.changeSecurity(userId, change), Effect.sync(() => changed(userId, undefined, change))),
  connect: Effect.fnUntraced(function*(userId, device) {
    const ref = yield* outside.connect(userId, device)
    const secret = crypto.randomBytes(256)
    Object.assign(centre!.know(secret).of, { ref, userId })
    yield* Effect.orDie(keys.save(ref, keyName, Redacted.make(new Uint8Array(secret)), 0))
    return ref
  })
})

/** The adapter's options for a data centre. */
const optionsFor = ({ port }: DataCentre, publicKeys: ReadonlyArray<string>): Messenger.Options => ({
  applicationId: 1,
  applicationHash: Redacted.make("0".repeat(32)),
  dataCentre: { id: 1, ipAddress: "127.0.0.1", port },
  publicKeys,
  version: "1"
})

/** Over keys that somebody keeps, and some data centres of which the first is known. */
export const layerOf = (count: number) =>
  Layer.effectContext(Effect.gen(function*() {
    const simulated = yield* Layer.build(Simulated.layerMemory)
    const keys = yield* MessengerKeys
    const started = yield* Platform.start(
      Context.get(simulated, MessengerSession),
      Context.get(simulated, MessengerArchive),
      count
    )
    const [centre] = started.centres
    const options = optionsFor(centre!, started.centres.map(({ publicKey }) => publicKey))
    const messenger = yield* Layer.build(Messenger.layer(options))
    const outside = world(Context.get(simulated, SimulatedPlatform), started, keys)
    centres.set(outside, centre!)
    const loopback = { centre: centre!, centres: started.centres, homes: started.homes, world: outside }
    return Context.add(Context.add(messenger, Loopback, loopback), SimulatedPlatform, outside).pipe(
      Context.add(SimulatedChats, Context.get(simulated, SimulatedChats))
    )
  }))

/** Over keys that somebody keeps. */
export const layerOver = Layer.provide(layerOf(1), Ownership.layerAlone)

/** Over keys in memory, and some data centres. */
export const layerWith = (count: number) =>
  Layer.provideMerge(Layer.provide(layerOf(count), Ownership.layerAlone), Keys.layer)

/** Over keys in memory. */
export const layer = layerWith(1)
