/** The version of the interface, in its document and at the MCP server; the package has its own. */
export const interfaceVersion = "1.2.0"
