/** Asking a running service over one kept connection, and what the answers' times come to. */
import * as http from "node:http"

export interface Answered {
  readonly status: number
  readonly body: string
  readonly millis: number
}

/** Asks over at most so many kept connections; without more than one, one thing after another. */
export const startAsking = (address: string, connections = 1) => {
  const agent = new http.Agent({ keepAlive: true, maxSockets: connections })
  const send = (method: string, key: string, path: string, content?: unknown, further = {}): Promise<Answered> =>
    new Promise((resolve, reject) => {
      const begun = process.hrtime.bigint()
      const headers = {
        authorization: `Bearer ${key}`,
        ...further,
        ...(content === undefined ? {} : { "content-type": "application/json" })
      }
      http.request(new URL(path, address), { agent, headers, method }, (response) => {
        let body = ""
        response.setEncoding("utf8").on("data", (text: string) => body += text).once("error", reject).once(
          "end",
          () =>
            resolve({
              status: response.statusCode ?? 0,
              body,
              millis: Number(process.hrtime.bigint() - begun) / 1e6
            })
        )
      }).once("error", reject).end(content === undefined ? undefined : JSON.stringify(content))
    })
  return {
    send,
    ask: (key: string, path: string) => send("GET", key, path),
    stop: () => agent.destroy()
  }
}

/** Gives one key after another, each no more often in a minute than the limit allows. */
export const taking = (keys: ReadonlyArray<string>) => {
  let next = 0
  return () => keys[next++ % keys.length] ?? ""
}

/** The value below which this share of the values lies. */
export const quantile = (values: ReadonlyArray<number> | Float64Array, share: number): number => {
  const sorted = Float64Array.from(values).sort()
  return sorted[Math.min(sorted.length - 1, Math.floor(sorted.length * share))] ?? Number.NaN
}

export const median = (values: ReadonlyArray<number> | Float64Array): number => quantile(values, 0.5)

const resampled = (values: ReadonlyArray<number>): Float64Array =>
  Float64Array.from(values, () => values[Math.floor(Math.random() * values.length)] ?? Number.NaN)

/** An interval of the difference of two medians, by drawing the samples again many times. */
export const differenceOfMedians = (
  left: ReadonlyArray<number>,
  right: ReadonlyArray<number>,
  { confidence = 0.95, draws = 400 }: { readonly confidence?: number; readonly draws?: number } = {}
): { readonly difference: number; readonly low: number; readonly high: number } => {
  const drawn = Array.from({ length: draws }, () => median(resampled(left)) - median(resampled(right)))
  const tail = (1 - confidence) / 2
  return { difference: median(left) - median(right), low: quantile(drawn, tail), high: quantile(drawn, 1 - tail) }
}
