import { describe, expect, it } from "vitest"
import { blobPlace } from "../../src/cli/settings/BlobPlace.ts"

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
