import type { Mutant } from "../list.ts"

export const layers: ReadonlyArray<Mutant> = [
  {
    file: "src/layers/crypto/ApiKeys.ts",
    line: "checksum(text.slice(0, -checksumLength)) === text.slice(-checksumLength)",
    becomes: "text.slice(-checksumLength).length === checksumLength",
    why: "a typing error costs a look into the database",
    tests: ["test/layers/crypto/ApiKeys.test.ts"]
  },
  {
    file: "src/layers/crypto/Peppers.ts",
    line: "crypto.createHmac(\"sha256\", Redacted.value(pepper.key)).update(text).digest(\"hex\")",
    becomes: "crypto.createHash(\"sha256\").update(`${pepper.id}${text}`).digest(\"hex\")",
    why: "digests can be made without the pepper",
    tests: ["test/layers/crypto/Peppers.test.ts"]
  },
  {
    file: "src/layers/crypto/Gcm.ts",
    line: "const bound = (context: ReadonlyArray<string>): Buffer => Buffer.from(JSON.stringify(context))",
    becomes: "const bound = (_: ReadonlyArray<string>): Buffer => Buffer.from([])",
    why: "what is sealed for one account opens for another",
    tests: ["test/properties/secrets.test.ts"]
  },
  {
    file: "src/layers/crypto/PasswordHasher.ts",
    line: "isCurrent: (hashed) => hashed.startsWith(start)",
    becomes: "isCurrent: () => true",
    why: "passwords stay under weak parameters",
    tests: ["test/pages/throttleRecords.test.ts"]
  },
  {
    file: "src/layers/memory/RateLimiter.ts",
    line: "const admitted = hits.length < requestsPerMinute",
    becomes: "const admitted = hits.length <= requestsPerMinute",
    why: "one request more than the limit",
    tests: ["test/layers/rateLimiter.test.ts"]
  },
  {
    file: "src/layers/messenger/Owned.ts",
    line: "Effect.suspend(() => isMine() ? Effect.raceFirst(call, Deferred.await(over)) : unavailable)",
    becomes: "Effect.suspend(() => Effect.raceFirst(call, Deferred.await(over)))",
    why: "a process that was frozen uses a key that another one has by now",
    tests: ["test/engine/ownership.test.ts"]
  },
  {
    file: "src/layers/messenger/Owned.ts",
    line: "return isMine() ? owned(live, isMine, one.over) : yield* unavailable",
    becomes: "return owned(live, () => true, one.over)",
    why: "whoever has a session open goes on with its key after the process has lost the watch",
    tests: ["test/engine/ownership.test.ts"]
  },
  {
    file: "src/layers/Instant.ts",
    line:
      "export const isBefore = (now: Instant, end: Instant): boolean => now.monotonic < end.monotonic && now.wall < end.wall",
    becomes: "export const isBefore = (now: Instant, end: Instant): boolean => now.monotonic < end.monotonic",
    why: "a machine that was suspended uses keys when it wakes",
    tests: ["test/engine/ownership.test.ts"]
  },
  {
    file: "src/messenger/Network.ts",
    line: "if (!this.#isOver()) return super.write(bytes)",
    becomes: "if (this.socket.writable) return super.write(bytes)",
    why: "a process that was frozen uses keys when it wakes, which another one has by then",
    tests: ["test/messenger/lines.test.ts"]
  }
]
