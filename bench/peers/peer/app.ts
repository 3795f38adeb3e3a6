/** The peer: the same duties on Fastify and `pg`, as a team writes them that knows both. */
import Fastify, { type FastifyInstance, type FastifyReply, type FastifyRequest } from "fastify"
import { type Caller, makeAdmission, type Rate } from "./admission.ts"
import type { Database } from "./database.ts"
import { errorBody, parameterInvalid, type Refused, resourceMissing, toRefused } from "./failures.ts"
import { ulid } from "./ids.ts"
import { askedFor, makeMcp, type Tool } from "./mcp.ts"
import { getAccount, getOrganization, type Input, listAccounts, type Operation, setRoleLabel } from "./operations.ts"
import { answers, components, inputs } from "./schemas.ts"
import { Metrics } from "./telemetry.ts"
import { readStrictly, refuse } from "./validation.ts"

declare module "fastify" {
  interface FastifyRequest {
    caller: Caller | undefined
    code: string | undefined
  }
}

const exposed = "Request-Id,RateLimit-Limit,RateLimit-Remaining,RateLimit-Reset,Retry-After,WWW-Authenticate"

const headersFor = (request: FastifyRequest) => ({
  "request-id": request.id,
  "content-security-policy": "default-src 'none'; frame-ancestors 'none'",
  "x-content-type-options": "nosniff",
  "cache-control": "no-store",
  "access-control-allow-origin": "*",
  "access-control-expose-headers": request.url.startsWith("/mcp") ? exposed : `${exposed},Idempotent-Replayed`
})

const rateHeaders = ({ limit, remaining, reset }: Rate) => ({
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
    const code = request.code ?? String(reply.statusCode)
    metrics.count(operation, code, reply.elapsedTime / 1000)
    request.log.info({
      request_id: id,
      method,
      route: routeOptions.url,
      operation,
      via: operation === "/mcp" ? "mcp" : "rest",
      status: reply.statusCode,
      code: request.code ?? null,
      organization_id: caller?.organizationId ?? null,
      credential_kind: caller === undefined ? null : "api_key",
      credential_id: caller?.key.id ?? null,
      client_ip: ip,
      duration_ms: reply.elapsedTime
    }, "Request answered")
    done()
  })
}

declare module "fastify" {
  interface FastifyContextConfig {
    operation?: string
  }
}

export interface Options {
  readonly database: Database
  readonly pepper: Buffer
}

export const makeApp = ({ database, pepper }: Options): FastifyInstance => {
  const app = Fastify({
    logger: { level: "info", stream: process.stderr },
    disableRequestLogging: true,
    genReqId: () => `req_${ulid()}`,
    bodyLimit: 64 * 1024
  })
  const admission = makeAdmission(database, pepper)
  const hosts = new Set<string>()
  app.addHook("onListen", async () => {
    const { host, port } = new URL(app.listeningOrigin)
    hosts.add(host).add(`localhost:${port}`)
  })
  for (const schema of components) app.addSchema(schema)
  readStrictly(app)
  observe(app)
  app.decorateRequest("caller", undefined)
  app.decorateRequest("code", undefined)

  app.addHook("onRequest", async (request, reply) => {
    reply.headers(headersFor(request))
    const { host } = request.headers
    if (host === undefined) throw parameterInvalid("Host", "is required")
    if (!hosts.has(host)) throw resourceMissing()
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
    const caller = await admission.authenticate(request.headers.authorization, request.ip)
    request.caller = caller
    const rate = await admission.consume(caller)
    admission.check(caller, operation)
    reply.headers(rateHeaders(rate))
  }

  const serve = (method: "GET" | "PUT", url: string, operation: Operation, answer: object, input: object) =>
    app.route({
      method,
      url,
      config: { operation: operation.id },
      schema: { ...input, response: { 200: answer, "4xx": answers.failure, "5xx": answers.failure } },
      onRequest: admit(operation),
      handler: (request) =>
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
    { operation: getAccount, input: inputs.account, output: answers.account }
  ]
  const mcp = makeMcp(tools)
  app.route({
    method: "POST",
    url: "/mcp",
    config: { operation: "/mcp" },
    onRequest: async (request) => {
      request.caller = await admission.authenticate(request.headers.authorization, request.ip)
    },
    handler: async (request, reply) => {
      const caller = callerOf(request)
      for (const name of askedFor(request.body)) {
        const rate = await admission.consume(caller)
        const tool = tools.find(({ operation }) => operation.id === name)
        if (tool !== undefined) admission.check(caller, tool.operation)
        reply.headers(rateHeaders(rate))
      }
      await mcp(
        request,
        reply,
        caller,
        (operation, input) =>
          operation.answer(database, caller, input, { via: "mcp", ip: request.ip, requestId: request.id })
      )
    }
  })
  return app
}
