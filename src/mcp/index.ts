/** The service for AI assistants: every operation as a tool of an MCP server. */
export type * as Types from "../Types.ts"
export * as Handler from "./Handler.ts"
export * as Tools from "./Tools.ts"
