/** An operation that answers contents, declared for tests alone: so many letters, of several kinds. */
import { Effect, Layer, Schema, Stream } from "effect"
import { HttpServer } from "effect/http"
import { TargetAccount } from "../../../src/domain/accounts/Account.ts"
import { type ByteRange, ContentBroken } from "../../../src/domain/Content.ts"
import { everyone } from "../../../src/domain/people/Access.ts"
import * as App from "../../../src/http/App.ts"
import * as Server from "../../../src/http/Server.ts"
import * as Operation from "../../../src/kernel/Operation.ts"
import { operations, ServedOperations } from "../../../src/operations/index.ts"
import * as Site from "../../../src/transport/Site.ts"
import { postgres } from "../postgres/database.ts"
import * as World from "../world.ts"

/** The kinds: of known size, of unknown size, failing in the middle, shorter and longer than their size, endless. */
const kinds = ["sized", "unsized", "failing", "short", "long", "slow"] as const

const letterAt = (at: number) => 97 + at % 26

export const letters = ({ end, start }: ByteRange) =>
  Uint8Array.from({ length: end - start }, (_, at) => letterAt(start + at))

/** The streams that are open now. */
export const open = { streams: 0 }

const chunkSize = 64 * 1024

const read = (range: ByteRange): Stream.Stream<Uint8Array> =>
  Stream.unfold(range.start, (at) =>
    Effect.succeed(
      at >= range.end
        ? undefined
        : [letters({ start: at, end: Math.min(at + chunkSize, range.end) }), at + chunkSize] as const
    ))

const broken = new ContentBroken({ reason: "the test says so" })

const counted = <E>(stream: Stream.Stream<Uint8Array, E>) =>
  Stream.suspend(() => {
    open.streams++
    return Stream.ensuring(stream, Effect.sync(() => open.streams--))
  })

export const downloadLetters = Operation.stream(
  "download_letters",
  {
    summary: "Download letters.",
    method: "GET",
    path: "/v1/accounts/:account_id/letters/:kind",
    toolset: "archive",
    scope: "archive:read",
    roles: everyone,
    params: {
      account_id: TargetAccount,
      kind: Schema.Literals(kinds).annotateKey({ description: "The kind of letters." })
    },
    query: { size: Schema.NumberFromString.annotateKey({ description: "The number of letters." }) },
    sample: {
      request: { account_id: "019bc0e2-1280-7691-9060-dc1c794fba00", kind: "sized", size: "3" },
      answer: { object: "content", media_type: "text/plain", file_name: "letters.txt", size: 3 }
    }
  },
  ({ kind, size }) =>
    Effect.succeed({
      media_type: "text/plain",
      file_name: "brief \"ä\".txt",
      size: kind === "unsized" ? null : size,
      ranges: kind === "sized",
      version: kind === "sized" ? "v1" : null,
      bytes: (range = { start: 0, end: size }) => {
        if (kind === "failing") return counted(Stream.concat(read({ start: 0, end: size / 2 }), Stream.fail(broken)))
        if (kind === "short" || kind === "long") {
          return counted(read({ start: 0, end: size + (kind === "short" ? -1 : 1) }))
        }
        if (kind === "slow") return counted(Stream.concat(read({ start: 0, end: 1 }), Stream.never))
        return counted(read(range))
      }
    })
)

export const served: Operation.List = [...operations, downloadLetters]

/** The service knows itself by the address that it listens on. */
const listening = Layer.effect(
  Site.Sites,
  Effect.map(
    HttpServer.HttpServer,
    ({ address }) => Site.make([{ baseUrl: HttpServer.formatAddress(address), organizationId: null }])
  )
)

/** The service on a socket, with that operation. */
export const serving = Layer.effectDiscard(
  Effect.flatMap(Effect.provideService(App.make, ServedOperations, served), Server.serve)
).pipe(
  Layer.provideMerge(listening),
  Layer.provideMerge(Server.layerListen({ host: "127.0.0.1", port: 0, stallTime: "500 millis" })),
  Layer.provideMerge(World.core(postgres))
)

export const port = Effect.map(HttpServer.HttpServer, ({ address }) => "port" in address ? address.port : 0)
