/** The peer's MCP server, on the official SDK: a server of its own for each request, without sessions, JSON answers. */
import {
  type CallToolResult,
  ProtocolError,
  ProtocolErrorCode,
  Server,
  WebStandardStreamableHTTPServerTransport
} from "@modelcontextprotocol/server"
import type { FastifyReply, FastifyRequest } from "fastify"
import type { Caller } from "./entry.ts"
import { errorBody, type Refused, toRefused } from "./failures.ts"
import type { Input, Operation } from "./operations.ts"
import { compile, refuse } from "./validation.ts"

export interface Tool {
  readonly operation: Operation
  readonly input: { readonly [member: string]: unknown }
  readonly output: { readonly [member: string]: unknown }
}

/** How a tool is run for this request. */
export type Answer = (operation: Operation, input: Input) => object | Promise<object>

const failed = (failure: Refused): CallToolResult => ({
  content: [{ type: "text", text: JSON.stringify(errorBody(failure)) }],
  isError: true
})

export const makeMcp = (tools: ReadonlyArray<Tool>) => {
  const byName = new Map(tools.map((tool) => [tool.operation.id, { ...tool, check: compile(tool.input) }]))

  const serverFor = (reply: FastifyReply, caller: Caller, answer: Answer) => {
    const server = new Server({ name: "peer", version: "1.2.0" }, { capabilities: { tools: {} } })
    server.setRequestHandler("tools/list", () => ({
      tools: tools.filter(({ operation }) => operation.roles.includes(caller.role)).map((
        { input, operation, output }
      ) => ({
        name: operation.id,
        inputSchema: { ...input, type: "object" as const },
        outputSchema: { ...output, type: "object" as const }
      }))
    }))
    server.setRequestHandler("tools/call", async ({ params }): Promise<CallToolResult> => {
      const tool = byName.get(params.name)
      if (tool === undefined) {
        throw new ProtocolError(ProtocolErrorCode.InvalidParams, `There is no tool ${params.name}.`)
      }
      try {
        const input = params.arguments ?? {}
        if (!tool.check(input)) throw refuse(tool.check.errors?.[0])
        const answered = { ...(await answer(tool.operation, input)) }
        return {
          content: [{ type: "text", text: String(reply.serializeInput(answered, tool.output)) }],
          structuredContent: answered
        }
      } catch (error) {
        return failed(toRefused(error))
      }
    })
    return server
  }

  return async (request: FastifyRequest, reply: FastifyReply, caller: Caller, answer: Answer): Promise<string> => {
    const transport = new WebStandardStreamableHTTPServerTransport({ enableJsonResponse: true })
    const server = serverFor(reply, caller, answer)
    await server.connect(transport)
    try {
      const incoming = new Request(`http://${request.host}${request.url}`, {
        method: request.method,
        headers: request.headers as Record<string, string>
      })
      const response = await transport.handleRequest(incoming, { parsedBody: request.body })
      reply.status(response.status)
      const type = response.headers.get("content-type")
      if (type !== null) reply.header("content-type", type)
      return await response.text()
    } finally {
      await server.close()
    }
  }
}
