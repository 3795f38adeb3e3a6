/** The worker of the archive password's page: it makes or opens the key, and its policy lets it connect to nothing. */
import { Effect, Layer } from "effect"
import * as WebCrypto from "../../layers/archive/WebCrypto.ts"
import * as Derivation from "../worker/Derivation.ts"
import { makeAnswer } from "./KeyAnswering.ts"
import type { KeyAnswer, KeyAsk } from "./KeyCalls.ts"

const answerTo = (ask: KeyAsk) =>
  makeAnswer(ask).pipe(
    Effect.match({
      onSuccess: (ready): KeyAnswer => ({ ready }),
      onFailure: (fault): KeyAnswer => ({ fault })
    }),
    Effect.provide(Layer.merge(WebCrypto.layer, Derivation.layerWith(ask.cost)))
  )

const failed: KeyAnswer = {
  fault: { field: "", message: "This browser did not make a key that opens. Nothing was changed.", byService: true }
}

globalThis.addEventListener("message", ({ data }: MessageEvent<KeyAsk>) => {
  void Effect.runPromise(answerTo(data)).catch(() => failed).then((answer) => globalThis.postMessage(answer))
})
