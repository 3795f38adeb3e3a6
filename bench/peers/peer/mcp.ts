/** The peer's MCP server, on the official SDK: a server of its own for each request, without sessions, JSON answers. */
import { Server } from "@modelcontextprotocol/sdk/server/index.js"
import { StreamableHTTPServerTransport } from "@modelcontextprotocol/sdk/server/streamableHttp.js"
import { CallToolRequestSchema, type CallToolResult, ListToolsRequestSchema } from "@modelcontextprotocol/sdk/types.js"
import type { FastifyReply, FastifyRequest } from "fastify"
import type { Caller } from "./admission.ts"
import { errorBody, type Refused, toRefused } from "./failures.ts"
import type { Input, Operation } from "./operations.ts"
import { compile, refuse } from "./validation.ts"

export interface Tool {
  readonly operation: Operation
  readonly input: { readonly [member: string]: unknown }
  readonly output: { readonly [member: string]: unknown }
}

/** How a tool is run for this request. */
export type Answer = (operation: Operation, input: Input) => Promise<object>

const failed = (failure: Refused): CallToolResult => ({
  content: [{ type: "text", text: JSON.stringify(errorBody(failure)) }],
  isError: true
})

/** The calls of tools among the messages of a body, and how many messages wait for an answer. */
export const askedFor = (body: unknown): ReadonlyArray<string | undefined> =>
  (Array.isArray(body) ? body : [body]).flatMap((message) =>
    message === null || typeof message !== "object" || !("id" in message)
      ? []
      : [message.method === "tools/call" ? String(message.params?.name) : undefined]
  )

export const makeMcp = (tools: ReadonlyArray<Tool>) => {
  const byName = new Map(tools.map((tool) => [tool.operation.id, { ...tool, check: compile(tool.input) }]))

  const serverFor = (reply: FastifyReply, caller: Caller, answer: Answer) => {
    const server = new Server({ name: "peer", version: "1.2.0" }, { capabilities: { tools: {} } })
    server.setRequestHandler(ListToolsRequestSchema, () => ({
      tools: tools.filter(({ operation }) => operation.roles.includes(caller.role)).map((
        { input, operation, output }
      ) => ({
        name: operation.id,
        inputSchema: { ...input, type: "object" as const },
        outputSchema: { ...output, type: "object" as const }
      }))
    }))
    server.setRequestHandler(CallToolRequestSchema, async ({ params }): Promise<CallToolResult> => {
      const tool = byName.get(params.name)
      if (tool === undefined) throw new Error(`There is no tool ${params.name}.`)
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

  return async (request: FastifyRequest, reply: FastifyReply, caller: Caller, answer: Answer): Promise<void> => {
    const server = serverFor(reply, caller, answer)
    const transport = new StreamableHTTPServerTransport({ enableJsonResponse: true })
    reply.raw.once("close", () => void server.close())
    // The SDK's declaration of its own transport does not satisfy its interface under exact optional properties.
    await server.connect(transport as Parameters<typeof server.connect>[0])
    reply.hijack()
    for (const [name, value] of Object.entries(reply.getHeaders())) {
      if (value !== undefined) reply.raw.setHeader(name, value)
    }
    await transport.handleRequest(request.raw, reply.raw, request.body)
  }
}
