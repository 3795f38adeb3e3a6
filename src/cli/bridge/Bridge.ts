/** The bridge: an MCP server on its user's machine that opens the archive there, in front of a service elsewhere. */
import * as NodeHttpClient from "@effect/platform-node/NodeHttpClient"
import { Console, Effect, Layer, Logger, type Option } from "effect"
import { HttpClient } from "effect/http"
import * as DerivationTurns from "../../layers/archive/DerivationTurns.ts"
import * as NodeCrypto from "../../layers/archive/NodeCrypto.ts"
import * as PasswordDerivation from "../../layers/archive/PasswordDerivation.ts"
import * as RemoteArchive from "../../layers/archive/RemoteArchive.ts"
import * as SearchThreads from "../../layers/archive/SearchThreads.ts"
import * as SearchTurns from "../../layers/archive/SearchTurns.ts"
import * as Stdio from "../../mcp/Stdio.ts"
import * as ToolSelection from "../../mcp/ToolSelection.ts"
import * as RemoteMcp from "../process/RemoteMcp.ts"
import { addressOf } from "../process/ServiceAddress.ts"
import * as Settings from "../settings/Settings.ts"
import * as BridgeArchive from "./BridgeArchive.ts"
import * as Connections from "./BridgeConnection.ts"
import * as BridgedTools from "./BridgedTools.ts"
import * as Entry from "./BridgeEntry.ts"
import * as BridgeMessages from "./BridgeMessages.ts"
import * as Passwords from "./BridgePassword.ts"
import * as BridgeService from "./BridgeService.ts"
import * as Tokens from "./BridgeTokens.ts"

/** Every setting of `bridge`. */
export interface BridgeSettings {
  readonly url: string
  readonly signIn: boolean
  readonly scopes: string
  readonly noBrowser: boolean
  readonly passwordFd: Option.Option<number>
  readonly askPassword: boolean
}

const say = (text: string) => Console.error(text)

/** Connects the bridge where it is not; then serves until standard input ends. */
export const bridge = (settings: BridgeSettings) =>
  Effect.gen(function*() {
    const url = yield* addressOf(settings.url)
    const connection = { url, file: Tokens.fileFor(url) }
    yield* Connections.connect(connection, {
      anew: settings.signIn,
      scopes: settings.scopes,
      browser: !settings.noBrowser,
      say
    })
    if (settings.signIn) {
      return yield* say(
        `The bridge is connected. Its entry in an assistant's list of servers, with the file that has the archive password:\n${
          Entry.entry(url)
        }`
      )
    }
    const password = yield* Passwords.archivePassword({
      descriptor: settings.passwordFd,
      ask: settings.askPassword,
      environment: yield* Settings.archivePassword
    })
    const client = yield* HttpClient.HttpClient
    const ask = Connections.asking(
      connection,
      (token) =>
        RemoteMcp.askOver(client, { url, target: ToolSelection.path, headers: { authorization: `Bearer ${token}` } })
    )
    const call = BridgeService.callTool(ask)
    const services = yield* Layer.build(
      BridgeArchive.layer(password).pipe(
        Layer.provideMerge(RemoteArchive.layerOver(BridgeService.callOperation(call))),
        Layer.provideMerge(DerivationTurns.layer.pipe(Layer.provide(PasswordDerivation.layer))),
        Layer.provideMerge(
          Layer.mergeAll(NodeCrypto.layer, SearchThreads.layer, SearchTurns.layer, BridgeService.layer(call))
        )
      )
    )
    const callHere: BridgeMessages.CallHere = (name, input) => {
      const tool = BridgedTools.tools.get(name)
      return tool === undefined ? undefined : Effect.provideContext(BridgedTools.call(tool, input), services)
    }
    yield* Stdio.serve(BridgeMessages.bridged(ask, callHere))
  }).pipe(
    Effect.scoped,
    Effect.provide([
      NodeHttpClient.layerNodeHttp,
      Logger.layer([Logger.withConsoleError(Logger.formatLogFmt)])
    ]),
    Effect.provideService(Logger.LogToStderr, true)
  )
