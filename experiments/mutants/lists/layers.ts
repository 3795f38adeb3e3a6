import { change, type MutantsByFile } from "../mutant.ts"

export const layers: MutantsByFile = {
  "src/layers/crypto/credentials/ApiKeys.ts": [
    change({
      in: "matches",
      replace: "checksum(text.slice(0, -checksumLength)) === text.slice(-checksumLength)",
      by: "text.slice(-checksumLength).length === checksumLength"
    })
      .loses("a typing error costs a look into the database")
      .seenBy("test/layers/crypto/credentials/ApiKeys.test.ts")
  ],
  "src/layers/crypto/Peppers.ts": [
    change({
      in: "hmac",
      replace: "createHmac(\"sha256\", Redacted.value(pepper.key)).update(text)",
      by: "createHash(\"sha256\").update(`${pepper.id}${text}`)"
    })
      .loses("digests can be made without the pepper")
      .seenBy("test/layers/crypto/Peppers.test.ts")
  ],
  "src/layers/crypto/Gcm.ts": [
    change({
      in: "bound",
      replace: "(context: ReadonlyArray<string>): Buffer => Buffer.from(JSON.stringify(context))",
      by: "(_: ReadonlyArray<string>): Buffer => Buffer.from([])"
    })
      .loses("what is sealed for one account opens for another")
      .seenBy("test/properties/secrets.test.ts")
  ],
  "src/layers/crypto/signin/PasswordHasher.ts": [
    change({ in: "isCurrent", replace: "(hashed) => hashed.startsWith(start)", by: "() => true" })
      .loses("passwords stay under weak parameters")
      .seenBy("test/http/pages/signin/throttleRecords.test.ts")
  ],
  "src/layers/memory/RateLimiter.ts": [
    change({ in: "admitted", replace: "<", by: "<=" })
      .loses("one request more than the limit")
      .seenBy("test/layers/sql/credentials/rateLimiter.test.ts")
  ],
  "src/layers/messenger/Owned.ts": [
    change({
      in: "asked",
      replace: "isMine() ? Effect.raceFirst(call, Deferred.await(over)) : unavailable",
      by: "Effect.raceFirst(call, Deferred.await(over))"
    })
      .loses("a process that was frozen uses a key that another one has by now")
      .seenBy("test/protection/ownership.test.ts"),
    change({
      in: "open",
      replace: "isMine() ? owned(live, isMine, one.over) : yield* unavailable",
      by: "owned(live, () => true, one.over)"
    })
      .loses("an open session goes on with its key after the process has lost the watch")
      .seenBy("test/protection/ownership.test.ts")
  ],
  "src/layers/Instant.ts": [
    change({ in: "isBefore", replace: " && now.wall < end.wall", by: "" })
      .loses("a machine that was suspended uses keys when it wakes")
      .seenBy("test/protection/ownership.test.ts")
  ],
  "src/layers/messenger/wire/Network.ts": [
    change({ in: "write", replace: "!this.#isOver()", by: "this.socket.writable" })
      .loses("a process that was frozen uses keys when it wakes, which another one has by then")
      .seenBy("test/layers/messenger/wire/lines.test.ts")
  ]
}
