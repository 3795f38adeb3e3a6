/** The viewer's worker: it has the keys, asks the service for what is sealed, and answers the page. */
import { Effect, Layer, ManagedRuntime, Schema, Scope } from "effect"
import { ArchiveAccount } from "../../domain/archive/ArchiveAccount.ts"
import { List } from "../../domain/JsonShapes.ts"
import { OrganizationId } from "../../domain/people/Access.ts"
import { failByRefusal, layerOver } from "../../layers/archive/RemoteArchive.ts"
import * as WebCrypto from "../../layers/archive/WebCrypto.ts"
import { RemoteRefusal } from "../../ports/archive/SealedArchive.ts"
import type { Answered, Asked, CallName, Calls, Shown } from "../ViewerCalls.ts"
import { makeDecide } from "./Deciding.ts"
import * as Derivation from "./Derivation.ts"
import { makeFiles } from "./Files.ts"
import { makeChatFinder, readAround, readChats, readEdits, readMembers, readMessages } from "./Reading.ts"
import { makeSearches } from "./Searching.ts"
import { ask, faultOf, otherForm, type Service } from "./Service.ts"
import * as Turns from "./Turns.ts"
import { openSession, type Session } from "./WorkerSession.ts"

const accountsAtOnce = 100

const readAccounts = Schema.decodeUnknownEffect(Schema.toCodecJson(List(ArchiveAccount)))

const runtimeOver = (service: Service) =>
  ManagedRuntime.make(
    Layer.mergeAll(
      WebCrypto.layer,
      Derivation.layer,
      Turns.layer,
      layerOver((operation, input) => ask(service, operation, input))
    )
  )
type Runtime = ReturnType<typeof runtimeOver>

/** The calls that an opened archive answers. */
const opened = (service: Service, session: Session) => {
  const chatsOf = makeChatFinder(session)
  const search = makeSearches(session, chatsOf)
  const files = makeFiles(service, session)
  /** Notes the files of the messages that are answered. */
  const noted = <A extends Pick<Shown, "messages"> | null, E, R>(read: Effect.Effect<A, E, R>) =>
    Effect.tap(read, (shown) => Effect.sync(() => shown === null ? undefined : files.note(shown)))
  return {
    chat: (asked: Calls["chat"]["ask"]) => Effect.map(chatsOf([asked]), ([chat = null]) => chat),
    chats: (asked: Calls["chats"]["ask"]) => readChats(session, asked),
    members: (asked: Calls["members"]["ask"]) => readMembers(session, asked),
    messages: (asked: Calls["messages"]["ask"]) => noted(readMessages(session, asked)),
    around: (asked: Calls["around"]["ask"]) => noted(readAround(session, asked)),
    openFile: files.openFile,
    readFile: files.readFile,
    closeFile: files.closeFile,
    edits: (asked: Calls["edits"]["ask"]) => readEdits(session, asked),
    search,
    accounts: ({ after }: Calls["accounts"]["ask"]) =>
      ask(service, "list_accounts", { limit: accountsAtOnce, starting_after: after ?? undefined }).pipe(
        Effect.flatMap((answer) => Effect.mapError(readAccounts(answer), otherForm)),
        Effect.map(({ data, has_more }) => ({ accounts: data, hasMore: has_more }))
      ),
    decide: makeDecide((operation, input) => ask(service, operation, input))
  }
}
type Opened = ReturnType<typeof opened>

let started: { readonly service: Service; readonly runtime: Runtime } | undefined
let archive: Opened | undefined

/** Bytes are handed over, and not copied. */
const post = (answered: Answered): void => {
  const transfer = "answer" in answered && answered.answer instanceof Uint8Array ? [answered.answer.buffer] : []
  globalThis.postMessage(answered, { transfer })
}

const locked = () => Promise.reject(new Error("The archive is not open"))

/** Runs in the archive's ports; fails with a refusal, or with a defect that is one in this program. */
const run = <A, R extends ManagedRuntime.ManagedRuntime.Services<Runtime>>(
  effect: Effect.Effect<A, RemoteRefusal | { readonly message: string }, R>
): Promise<A> => started === undefined ? locked() : started.runtime.runPromise(failByRefusal(effect))

const unlock = async ({ password }: Calls["unlock"]["ask"]) => {
  const from = performance.now()
  const organizationId = OrganizationId.make(started?.service.organizationId ?? "")
  const session = await run(
    Effect.flatMap(
      Scope.make(),
      (scope) => Effect.provideService(openSession(organizationId, password), Scope.Scope, scope)
    )
  )
  if (started !== undefined) archive = opened(started.service, session)
  return { millis: performance.now() - from }
}

const answers: { readonly [Name in CallName]: (asked: Calls[Name]["ask"]) => Promise<Calls[Name]["answer"]> } = {
  start: async (named) => {
    const service = { ...named, waiting: (seconds: number) => post({ waiting: seconds }) }
    started = { service, runtime: runtimeOver(service) }
    return null
  },
  unlock,
  accounts: (asked) => archive === undefined ? locked() : run(archive.accounts(asked)),
  chats: (asked) => archive === undefined ? locked() : run(archive.chats(asked)),
  chat: (asked) => archive === undefined ? locked() : run(archive.chat(asked)),
  members: (asked) => archive === undefined ? locked() : run(archive.members(asked)),
  messages: (asked) => archive === undefined ? locked() : run(archive.messages(asked)),
  around: (asked) => archive === undefined ? locked() : run(archive.around(asked)),
  edits: (asked) => archive === undefined ? locked() : run(archive.edits(asked)),
  openFile: (asked) => archive === undefined ? locked() : run(archive.openFile(asked)),
  readFile: (asked) => archive === undefined ? locked() : run(archive.readFile(asked)),
  closeFile: (asked) => archive === undefined ? locked() : run(archive.closeFile(asked)),
  search: (asked) => archive === undefined ? locked() : run(archive.search(asked)),
  decide: (asked) => archive === undefined ? locked() : run(archive.decide(asked))
}

const faultIn = (error: unknown) =>
  error instanceof RemoteRefusal
    ? faultOf(error)
    : { code: "other" as const, message: error instanceof Error ? error.message : "Something went wrong." }

const answerTo = <Name extends CallName>({ ask, id, name }: Asked<Name>): Promise<Answered> =>
  answers[name](ask).then(
    (answer) => ({ id, answer }),
    (error: unknown) => ({ id, fault: faultIn(error) })
  )

globalThis.addEventListener("message", (event: MessageEvent) => {
  const asked: Asked = event.data
  void answerTo(asked).then(post)
})
