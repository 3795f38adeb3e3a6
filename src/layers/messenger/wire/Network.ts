/** Connections to data centres: how many are open together, each with a right to the key, and their outcome. */
import { Clock, Duration, Effect, Schedule } from "effect"
import * as net from "node:net"
import * as Gauge from "../../Gauge.ts"
import { hostInstant, isBefore, plus } from "../../Instant.ts"
import { type Address, IntermediatePacketCodec, TcpConnection, type WireTransport } from "./Protocol.ts"

/**
 * The right by which a session's key is used at this very moment, asked before each write without waiting; null where
 * there is none. A connection serves for the right that it was made under alone.
 */
export type Right = () => number | null

/** A right that ends by whichever clock of the host is past it first. */
export const rightFor = (duration: Duration.Duration): Right => {
  const end = plus(hostInstant(), Duration.toMillis(duration))
  return () => isBefore(hostInstant(), end) ? 1 : null
}

/** A session's connection to its data centre. */
export interface SessionLine {
  readonly transport: WireTransport
  /** Ends every connection, also one that is being made, and makes none any more. */
  readonly cut: () => void
  /** The number of connections that were lost, other than by `cut`. */
  readonly losses: () => number
}

export interface Network {
  /**
   * `atOnce` does not queue behind reconnecting sessions, because a request waits for the answer. A line for `reading`
   * may fail without a sign that the platform is away.
   */
  readonly line: (right: Right, how: { readonly atOnce: boolean; readonly reading?: boolean }) => SessionLine
  /** The data centres that could not be reached when they were tried last. */
  readonly away: Effect.Effect<ReadonlyArray<number>>
}

/** Sessions that have lost their connections together come back one after the other: fewer than 200 a second. */
const between = Duration.millis(5.5)

const connectTimeout = Duration.seconds(10)

/** A connection that destroys its socket rather than write under a right that has ended. */
class FencedConnection extends TcpConnection {
  readonly #isOver: () => boolean

  constructor(socket: net.Socket, isOver: () => boolean) {
    super(socket)
    this.#isOver = isOver
  }

  override write(bytes: Uint8Array): Promise<void> {
    if (!this.#isOver()) return super.write(bytes)
    this.close()
    return Promise.reject(new Error("The right to the session's key has ended"))
  }
}

const connected = (socket: net.Socket, { ipAddress, port }: Address): Promise<net.Socket> =>
  new Promise((resolve, reject) => {
    const failed = (error?: Error) => reject(error ?? new Error("The connection was given up"))
    socket.once("error", failed).once("close", () => failed())
    socket.setTimeout(Duration.toMillis(connectTimeout), () => socket.destroy())
    socket.connect(port, ipAddress, () => {
      socket.setTimeout(0).setNoDelay(true).off("error", failed)
      resolve(socket)
    })
  })

const nameOf = ({ id, ipAddress, port }: Address): string => `${id} at ${ipAddress}:${port}`

/** Connections for as long as the scope lasts; the first data centre is tried until it answers. */
export const make = Effect.fnUntraced(function*(first: Address) {
  const context = yield* Effect.context<never>()
  const real = Effect.provideService(Clock.Clock, Clock.Clock.defaultValue())
  const run = <A>(effect: Effect.Effect<A>) => Effect.runPromiseWith(context)(real(effect))
  let lastTurn = 0n
  /** Waits for a turn. They are apart by the clock: a timer that goes off late delays no other one. */
  const next = Effect.flatMap(Clock.monotonicTimeNanos, (now) => {
    const turn = lastTurn + Duration.toNanosUnsafe(between)
    lastTurn = turn > now ? turn : now
    return Effect.sleep(Duration.nanos(lastTurn - now))
  })
  const away = new Set<number>()

  yield* Gauge.show(
    "console_messenger_away",
    "Data centres of the messenger that could not be reached when they were tried last",
    () => away.size
  )

  const failed = (address: Address) => {
    if (away.has(address.id)) return
    away.add(address.id)
    void run(
      Effect.logWarning(
        `The messenger's data centre ${nameOf(address)} cannot be reached: it is tried until it answers`
      )
    )
  }

  const reached = (address: Address) => {
    if (away.delete(address.id)) void run(Effect.logInfo(`The messenger's data centre ${nameOf(address)} is reached`))
  }

  const connect = (socket: net.Socket, address: Address, isWanted: () => boolean = () => true) =>
    connected(socket, address).then(
      (made) => {
        if (isWanted()) reached(address)
        return made
      },
      (error: unknown) => {
        if (isWanted()) failed(address)
        throw error
      }
    )

  const answers = Effect.callback<boolean>((resume) => {
    const socket = new net.Socket()
    connect(socket, first).then(() => true, () => false).then((answered) => {
      socket.destroy()
      resume(Effect.succeed(answered))
    })
    return Effect.sync(() => socket.destroy())
  })
  yield* Effect.forkScoped(
    real(Effect.repeat(answers, { until: (answered) => answered, schedule: Schedule.spaced("5 seconds") }))
  )

  const line: Network["line"] = (right, { atOnce, reading = false }) => {
    const sockets = new Set<net.Socket>()
    let isCut = false
    let losses = 0
    return {
      transport: {
        connect: async (address) => {
          if (!atOnce) await run(next)
          const under = right()
          if (isCut || under === null) throw new Error("There is no right to the session's key")
          const socket = new net.Socket()
          sockets.add(socket)
          socket.once("close", () => sockets.delete(socket))
          await connect(socket, address, () => !isCut && !reading)
          socket.once("close", () => losses += isCut ? 0 : 1)
          return new FencedConnection(socket, () => right() !== under)
        },
        packetCodec: () => new IntermediatePacketCodec()
      },
      cut: () => {
        isCut = true
        for (const socket of sockets) socket.destroy()
      },
      losses: () => losses
    }
  }

  return { line, away: Effect.sync(() => [...away]) } satisfies Network
})
