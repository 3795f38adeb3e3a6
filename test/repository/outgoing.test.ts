import { describe, expect, it } from "vitest"
import { codeOf } from "../support/run/code.ts"
import { files, read } from "./repository.ts"

/** What sends a request somewhere, apart from methods that are named alike. */
const outgoing =
  /(?<![.\w])fetch\(|\bHttpClient\b|\bhttps?\.(?:request|get)\(|\b(?:net|tls)\.connect\(|\bcreateConnection\(|\bcreateSocket\(/

/**
 * The typed client is for other programs; the commands ask the service and the operator's collector; checkpoints go to
 * addresses of the operator's; documents of applications are read where the operator has turned that on; files are in
 * the operator's bucket where one is configured. The viewer and the pages of the archive password and of an export ask
 * the service from a browser; processes of one service forward operations to each other.
 */
const mayAsk =
  /^src\/(?:cli\/|viewer\/(?:worker\/Service|page\/Worker|key\/KeySending|download\/WrittenPart)\.ts$|http\/Client\.ts$|layers\/push\/(?:Webhook|Syslog)\.ts$|layers\/blobs\/S3Requests\.ts$|layers\/documents\/Https\.ts$|layers\/cluster\/Peers\.ts$)/

describe("the service", () => {
  it("requests nothing over a network but by its commands, the client for other programs, the push of checkpoints, the reader of documents, the bucket of files, and its own processes", () => {
    const asking = files("src/**/*.ts").filter((file) => outgoing.test(codeOf(read(file))))
    expect(asking.filter((file) => !mayAsk.test(file))).toEqual([])
    expect(asking.length).toBeGreaterThan(0)
  })
})
