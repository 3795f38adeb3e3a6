/** The service over HTTP, for any server of Effect's or of others. */
export * as Settings from "../edge/Settings.ts"
export * as Site from "../edge/Site.ts"
export * as App from "./App.ts"
export * as Documents from "./Documents.ts"
export * as Server from "./Server.ts"
