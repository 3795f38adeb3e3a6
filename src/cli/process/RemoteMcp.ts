/** The MCP server of a service elsewhere, as messages on standard input are asked of it. */
import { Duration, Effect } from "effect"
import { type HttpClient, HttpClientRequest } from "effect/http"
import { type Ask, Unreachable } from "../../mcp/Stdio.ts"

/** The time that an answer may take; no operation takes as long. */
const timeout = Duration.minutes(1)

/** An address of `/mcp`, and the headers that go with every request. */
export interface RemoteMcp {
  readonly url: string
  /** The path and query. */
  readonly target: string
  readonly headers: Readonly<Record<string, string>>
}

export const askOver =
  (client: HttpClient.HttpClient, { headers: own, target, url }: RemoteMcp): Ask => (headers, body) =>
    HttpClientRequest.post(`${url}${target}`).pipe(
      HttpClientRequest.setHeaders({ ...own, ...headers }),
      HttpClientRequest.bodyText(body, "application/json"),
      client.execute,
      Effect.flatMap((response) =>
        Effect.map(response.text, (text) => ({
          status: response.status,
          contentType: response.headers["content-type"] ?? "",
          text
        }))
      ),
      Effect.timeout(timeout),
      Effect.mapError(() => new Unreachable({ message: `There is no answer from ${url}.` }))
    )
