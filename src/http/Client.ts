/** A typed client of the API, from the same declarations: its failures are the same classes. */
import { Effect, type Redacted } from "effect"
import { HttpClient, HttpClientRequest } from "effect/http"
import { HttpApiClient } from "effect/http-api"
import { Api } from "./Documents.ts"

export interface Options {
  /** The address of the service, such as `https://security.example.com`. */
  readonly baseUrl: string
  readonly key: Redacted.Redacted
}

/** Makes a client that sends the key with every request; it needs an `HttpClient`. */
export const make = ({ baseUrl, key }: Options) =>
  Effect.gen(function*() {
    const client = yield* HttpClient.HttpClient
    return yield* HttpApiClient.makeWith(Api, {
      baseUrl,
      httpClient: HttpClient.mapRequest(client, HttpClientRequest.bearerToken(key))
    })
  })
export type * as Types from "../Types.ts"
