/** The peer: the same duties on Fastify and `pg`, as a team writes them that knows both and is free in its design. */
import Fastify, { type FastifyInstance, type FastifyReply, type FastifyRequest } from "fastify"
import type { Database } from "./database.ts"
import { type Caller, check, makeEntry, type Rate } from "./entry.ts"
import { errorBody, parameterInvalid, type Refused, resourceMissing, toRefused } from "./failures.ts"
import { ulid } from "./ids.ts"
import { makeMcp, type Tool } from "./mcp.ts"
import { getAccount, getOrganization, type Input, listAccounts, type Operation, setRoleLabel } from "./operations.ts"
import { answers, components, inputs } from "./schemas.ts"
import { limit } from "./statements.ts"
import { logStream, Metrics } from "./telemetry.ts"
import { readStrictly, refuse } from "./validation.ts"

declare module "fastify" {
  interface FastifyRequest {
    caller: Caller | undefined
    code: string | undefined
  }
  interface FastifyContextConfig {
    operation?: string
  }
}

const exposed = "Request-Id,RateLimit-Limit,RateLimit-Remaining,RateLimit-Reset,Retry-After,WWW-Authenticate"
const exposedOfContents = `${exposed},Accept-Ranges,Content-Disposition,Content-Range,ETag,Idempotent-Replayed`

const headersFor = (request: FastifyRequest) => ({
  "request-id": request.id,
  "content-security-policy": "default-src 'none'; frame-ancestors 'none'",
  "x-content-type-options": "nosniff",
  "cache-control": "no-store",
  "access-control-allow-origin": "*",
  "access-control-expose-headers": request.url.startsWith("/mcp") ? exposed : exposedOfContents
})

const rateHeaders = ({ remaining, reset }: Rate) => ({
  "ratelimit-limit": limit,
  "ratelimit-remaining": remaining,
  "ratelimit-reset": reset
})

const callerOf = (request: FastifyRequest): Caller => {
  if (request.caller === undefined) throw new Error("The request has no caller")
  return request.caller
}

const fromFastify = (error: unknown): Refused => {
  if (!(error instanceof Error) || !("code" in error)) return toRefused(error)
  if (error.code === "FST_ERR_VALIDATION" && "validation" in error) {
    return refuse((error.validation as ReadonlyArray<Parameters<typeof refuse>[0]>)[0])
  }
  if (error.code === "FST_ERR_CTP_INVALID_MEDIA_TYPE") {
    return parameterInvalid("Content-Type", "expected application/json")
  }
  if (error.code === "FST_ERR_CTP_BODY_TOO_LARGE") return parameterInvalid("body", "is larger than what is accepted")
  return toRefused(error)
}

/** One line of the log and one count for every request, as the service has them. */
const observe = (app: FastifyInstance) => {
  const metrics = new Metrics()
  app.addHook("onResponse", (request, reply, done) => {
    const { caller, id, ip, method, routeOptions } = request
    const operation = routeOptions.config.operation ?? routeOptions.url ?? "other"
    const code = request.code ?? null
    metrics.count(operation, code ?? String(reply.statusCode), reply.elapsedTime / 1000)
    app.log.info({
      request_id: id,
      method,
      route: routeOptions.url,
      operation,
      via: operation === "/mcp" ? "mcp" : "rest",
      status: reply.statusCode,
      code,
      organization_id: caller?.organization.organization_id ?? null,
      credential_kind: caller === undefined ? null : "api_key",
      credential_id: caller?.key.id ?? null,
      client_ip: ip,
      duration_ms: reply.elapsedTime
    }, "Request answered")
    done()
  })
}

export interface Options {
  readonly database: Database
  readonly pepper: Buffer
}

export const makeApp = ({ database, pepper }: Options): FastifyInstance => {
  const app = Fastify({
    logger: { level: "info", stream: logStream },
    disableRequestLogging: true,
    childLoggerFactory: (logger) => logger,
    genReqId: () => `req_${ulid()}`,
    bodyLimit: 64 * 1024
  })
  const entry = makeEntry(database, pepper)
  const hosts = new Set<string>()
  app.addHook("onListen", async () => {
    const { host, port } = new URL(app.listeningOrigin)
    hosts.add(host).add(`localhost:${port}`)
  })
  app.addHook("onClose", () => entry.close())
  for (const schema of components) app.addSchema(schema)
  readStrictly(app)
  observe(app)
  app.decorateRequest("caller", undefined)
  app.decorateRequest("code", undefined)

  app.addHook("onRequest", (request, reply, done) => {
    reply.headers(headersFor(request))
    const { host } = request.headers
    done(
      host === undefined
        ? parameterInvalid("Host", "is required")
        : hosts.has(host)
        ? undefined
        : resourceMissing()
    )
  })
  app.setNotFoundHandler(() => {
    throw resourceMissing()
  })
  app.setErrorHandler((error, request, reply) => {
    const refused = fromFastify(error)
    request.code = refused.code
    if (refused.status === 500) request.log.error(error)
    const at = request.url.startsWith("/mcp") ? "mcp" : "v1"
    return reply.status(refused.status).headers({
      ...(refused.status === 401
        ? {
          "www-authenticate":
            `Bearer resource_metadata="${app.listeningOrigin}/.well-known/oauth-protected-resource/${at}"`
        }
        : {}),
      ...refused.headers
    }).send(errorBody(refused))
  })

  /** Everything that is checked before the body is read. */
  const admit = (operation: Operation) => async (request: FastifyRequest, reply: FastifyReply) => {
    const { caller, rate } = await entry.enter(request.headers.authorization, request.ip)
    request.caller = caller
    const standing = rate()
    check(caller, operation)
    reply.headers(rateHeaders(standing))
  }

  const serve = (method: "GET" | "PUT", url: string, operation: Operation, answer: object, input: object) =>
    app.route({
      method,
      url,
      config: { operation: operation.id },
      schema: { ...input, response: { 200: answer, "4xx": answers.failure, "5xx": answers.failure } },
      onRequest: admit(operation),
      handler: async (request) =>
        operation.answer(
          database,
          callerOf(request),
          { ...request.query as Input, ...request.params as Input, ...request.body as Input },
          { via: "rest", ip: request.ip, requestId: request.id }
        )
    })

  const { nothing } = inputs
  serve("GET", "/v1/organization", getOrganization, answers.organization, { querystring: nothing })
  serve("GET", "/v1/accounts", listAccounts, answers.list, { querystring: inputs.page })
  serve("GET", "/v1/accounts/:account_id", getAccount, answers.account, {
    params: inputs.account,
    querystring: nothing
  })
  serve("PUT", "/v1/accounts/:account_id/role-label", setRoleLabel, answers.changed, {
    params: inputs.account,
    querystring: nothing,
    body: inputs.label
  })

  const tools: ReadonlyArray<Tool> = [
    { operation: getOrganization, input: nothing, output: answers.organization },
    { operation: listAccounts, input: inputs.page, output: answers.list },
    { operation: getAccount, input: inputs.account, output: answers.account },
    { operation: setRoleLabel, input: inputs.labelOfAccount, output: answers.changed }
  ]
  const mcp = makeMcp(tools)
  app.route({
    method: "POST",
    url: "/mcp",
    config: { operation: "/mcp" },
    onRequest: async (request, reply) => {
      const { caller, rate } = await entry.enter(request.headers.authorization, request.ip)
      request.caller = caller
      reply.headers(rateHeaders(rate()))
    },
    handler: async (request, reply) => {
      const caller = callerOf(request)
      const messages = Array.isArray(request.body) ? request.body : [request.body]
      for (let counted = 1; counted < messages.length; counted++) reply.headers(rateHeaders(await entry.count(caller)))
      for (const { method, params } of messages) {
        const called = method === "tools/call"
          ? tools.find(({ operation }) => operation.id === params?.name)
          : undefined
        if (called !== undefined) check(caller, called.operation)
      }
      const origin = { via: "mcp", ip: request.ip, requestId: request.id } as const
      return mcp(request, reply, caller, (operation, input) => operation.answer(database, caller, input, origin))
    }
  })
  return app
}
