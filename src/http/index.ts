/** The service over HTTP, for any server of Effect's or of others. */
export * as Site from "../transport/Site.ts"
export * as Settings from "../transport/TransportSettings.ts"
export type * as Types from "../Types.ts"
export * as App from "./App.ts"
export * as Documents from "./OpenApiDocument.ts"
export * as Server from "./Server.ts"
