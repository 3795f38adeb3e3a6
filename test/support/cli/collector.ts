/** A collector of telemetry on loopback: it keeps what it is sent, or never answers. */
import * as http from "node:http"
import type { AddressInfo } from "node:net"
import { onTestFinished } from "vitest"

export interface Received {
  readonly path: string
  readonly headers: http.IncomingHttpHeaders
  readonly body: any
}

/** Starts a collector that is gone when the test is. */
export const collect = async (options: { readonly answers: boolean } = { answers: true }) => {
  const received: Array<Received> = []
  const server = http.createServer((request, response) => {
    let text = ""
    request.setEncoding("utf8").on("data", (part: string) => text += part)
    request.on("end", () => {
      received.push({ path: request.url ?? "", headers: request.headers, body: JSON.parse(text) })
      if (options.answers) response.end("{}")
    })
  })
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve))
  onTestFinished(() => {
    server.closeAllConnections()
    server.close()
  })
  return { url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`, received }
}

/** The attributes of something in a message of the protocol, by their names. */
export const attributesOf = (item: any): Record<string, unknown> =>
  Object.fromEntries(item.attributes.map(({ key, value }: any) => [key, Object.values(value)[0]]))

/** The spans in what was received. */
export const spansIn = (received: ReadonlyArray<Received>): ReadonlyArray<any> =>
  received.filter(({ path }) => path === "/v1/traces")
    .flatMap(({ body }) => body.resourceSpans)
    .flatMap(({ scopeSpans }) => scopeSpans)
    .flatMap(({ spans }) => spans)
