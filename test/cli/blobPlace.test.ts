import { describe, expect, it } from "@effect/vitest"
import { ConfigProvider, Effect, Option } from "effect"
import * as Environment from "../../src/cli/process/Environment.ts"
import { blobLock, blobPlace } from "../../src/cli/settings/BlobPlace.ts"
import { embeddedDirectory } from "../support/cli/embeddedDirectory.ts"

describe("the place of files", () => {
  it("is a directory, or a bucket over TLS or on this machine", () => {
    expect(blobPlace("file:/srv/files")).toEqual({ kind: "directory", directory: "/srv/files" })
    expect(blobPlace("file:///srv/files")).toEqual({ kind: "directory", directory: "/srv/files" })
    expect(blobPlace("s3:https://s3.eu-central-1.amazonaws.com/files/console/one?region=eu-central-1")).toEqual({
      kind: "s3",
      place: {
        endpoint: "https://s3.eu-central-1.amazonaws.com",
        bucket: "files",
        prefix: "console/one/",
        region: "eu-central-1"
      }
    })
    expect(blobPlace("s3:http://127.0.0.1:9000/files/")).toEqual({
      kind: "s3",
      place: { endpoint: "http://127.0.0.1:9000", bucket: "files", prefix: "", region: "us-east-1" }
    })
  })

  it("is nothing else: no other address, no secret in it, no way out of the prefix", () => {
    for (
      const text of [
        "",
        "/srv/files",
        "file:relative",
        "s3:",
        "s3:files",
        "s3://files",
        "s3:http://store.example/files",
        "s3:ftp://store.example/files",
        "s3:https://store.example",
        "s3:https://store.example/",
        "s3:https://store.example/Files",
        "s3:https://key:secret@store.example/files",
        "s3:https://store.example/files/a%2f..%2fb",
        "s3:https://store.example/files//console",
        "s3:https://store.example/files/a b",
        "s3:https://store.example/files?region=",
        "s3:https://store.example/files?region=a&region=b",
        "s3:https://store.example/files?key=secret",
        "s3:https://store.example/files#console"
      ]
    ) {
      expect([text, blobPlace(text)]).toEqual([text, null])
    }
  })
})

describe("the lock of files", () => {
  it("is a mode and a period in days or years", () => {
    expect(blobLock("governance:365d")).toEqual({ mode: "governance", amount: 365, unit: "day" })
    expect(blobLock("compliance:7y")).toEqual({ mode: "compliance", amount: 7, unit: "year" })
    expect(blobLock("compliance:30y")).toMatchObject({ amount: 30 })
    expect(blobLock("compliance:10950d")).toMatchObject({ amount: 10_950 })
  })

  it("is nothing else: no other mode or unit, no period of none, and none of more than 30 years", () => {
    for (
      const text of [
        "",
        "on",
        "365d",
        "governance",
        "governance:",
        "governance:d",
        "governance:0d",
        "governance:-1d",
        "governance:1.5y",
        "governance:12h",
        "governance:6m",
        "GOVERNANCE:1y",
        "hold:1y",
        "compliance:31y",
        "compliance:10951d",
        "compliance:99999d",
        "compliance:7y "
      ]
    ) {
      expect([text, blobLock(text)]).toEqual([text, null])
    }
  })

  it.effect("is refused where it is none, and where files are in a directory", () =>
    Effect.gen(function*() {
      const refusal = (blobs: string | null, lock: string) =>
        Environment.check({
          ...embeddedDirectory("/nowhere"),
          blobs: Option.fromNullOr(blobs),
          blobsLock: Option.some(lock)
        }).pipe(
          Effect.match({ onSuccess: () => null, onFailure: ({ message }) => message }),
          Effect.provide(
            ConfigProvider.layer(
              ConfigProvider.fromUnknown({ CONSOLE_BLOBS_KEY_ID: "key", CONSOLE_BLOBS_SECRET: "secret" })
            )
          )
        )
      const bucket = "s3:https://store.example/files"
      expect(yield* refusal(bucket, "compliance:7y")).toBe(null)
      expect(yield* refusal(bucket, "7y")).toBe(
        "--blobs-lock is governance or compliance with a period of 1 to 10950 days or 1 to 30 years, " +
          "such as governance:365d or compliance:7y, not 7y."
      )
      for (const place of [null, "file:/srv/files"]) {
        expect(yield* refusal(place, "compliance:7y")).toBe(
          "--blobs-lock needs a bucket with Object Lock as --blobs: files in a directory cannot be locked."
        )
      }
    }))
})
