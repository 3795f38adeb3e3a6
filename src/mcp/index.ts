/** The service for AI assistants: every operation as a tool of an MCP server. */
export * as Handler from "./Handler.ts"
export * as Tools from "./Tools.ts"
