/** A typed client of the API, from the same declarations: its failures are the same classes. */
import { Effect, type Redacted } from "effect"
import { HttpClient, HttpClientRequest } from "effect/http"
import { HttpApiClient } from "effect/http-api"
import { archivePasswordHeader } from "../transport/Extras.ts"
import { Api } from "./OpenApiDocument.ts"

export interface Options {
  /** The address of the service, such as `https://security.example.com`. */
  readonly baseUrl: string
  readonly key: Redacted.Redacted
  /** Sent with every request, for operations that open the archive. */
  readonly archivePassword?: Redacted.Redacted
}

/** Makes a client that sends the key with every request; it needs an `HttpClient`. */
export const make = ({ archivePassword, baseUrl, key }: Options) =>
  Effect.gen(function*() {
    const client = yield* HttpClient.HttpClient
    return yield* HttpApiClient.makeWith(Api, {
      baseUrl,
      httpClient: HttpClient.mapRequest(client, (request) =>
        HttpClientRequest.setHeaders(
          HttpClientRequest.bearerToken(request, key),
          archivePassword === undefined ? {} : archivePasswordHeader(archivePassword)
        ))
    })
  })
export type * as Types from "../Types.ts"
