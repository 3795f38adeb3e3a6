/** The messenger over its own protocol, over a data centre on loopback in front of the simulated platform. */
import { Context, Effect, Layer, Redacted } from "effect"
import * as crypto from "node:crypto"
import * as Keys from "../../../src/layers/memory/MessengerKeys.ts"
import * as Simulated from "../../../src/layers/messenger/Simulated.ts"
import { SimulatedPlatform } from "../../../src/layers/messenger/SimulatedPlatform.ts"
import * as Messenger from "../../../src/messenger/index.ts"
import { MessengerKeys } from "../../../src/ports/MessengerKeys.ts"
import { MessengerSession } from "../../../src/ports/MessengerSession.ts"
import type { DataCentre } from "./DataCentre.ts"
import * as Platform from "./Platform.ts"

/** The data centre, and the world behind it in which sessions are made with a key. */
export class Loopback extends Context.Service<Loopback, {
  readonly centre: DataCentre
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

const world = (
  outside: SimulatedPlatform["Service"],
  { centre, changed }: Effect.Success<ReturnType<typeof Platform.start>>,
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
    Object.assign(centre.know(secret).of, { ref, userId })
    yield* Effect.orDie(keys.save(ref, keyName, Redacted.make(new Uint8Array(secret)), 0))
    return ref
  })
})

/** Over keys that somebody keeps. */
export const layerOver = Layer.effectContext(Effect.gen(function*() {
  const simulated = yield* Layer.build(Simulated.layerMemory)
  const keys = yield* MessengerKeys
  const started = yield* Platform.start(Context.get(simulated, MessengerSession))
  const { centre } = started
  const messenger = yield* Layer.build(Messenger.layer({
    applicationId: 1,
    applicationHash: Redacted.make("0".repeat(32)),
    dataCentre: { id: 1, ipAddress: "127.0.0.1", port: centre.port },
    publicKeys: [centre.publicKey],
    version: "1"
  }))
  const outside = world(Context.get(simulated, SimulatedPlatform), started, keys)
  centres.set(outside, centre)
  return Context.add(Context.add(messenger, Loopback, { centre, world: outside }), SimulatedPlatform, outside)
}))

/** Over keys in memory. */
export const layer = Layer.provideMerge(layerOver, Keys.layer)
