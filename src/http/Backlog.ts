/** The part of the answers on one connection that its client has not taken. */
import { Predicate } from "effect"
import type { ServerResponse } from "node:http"
import type { Duplex } from "node:stream"
import { answerProgress } from "../domain/Limits.ts"

/** The checks in turn that may pass without progress, and with something left of one answer or of 1 MiB of it. */
export interface AnswerLimits {
  readonly stalled: number
  readonly answer: number
}

/** The bytes that the system has taken from the socket; Node's own timeout of sockets goes by the same number. */
const takenFrom = (socket: Duplex): number => {
  const handle: unknown = Predicate.hasProperty(socket, "_handle") ? socket._handle : undefined
  if (!Predicate.hasProperty(handle, "bytesWritten") || !Predicate.hasProperty(handle, "writeQueueSize")) return 0
  const { bytesWritten, writeQueueSize } = handle
  return Predicate.isNumber(bytesWritten) && Predicate.isNumber(writeQueueSize) ? bytesWritten - writeQueueSize : 0
}

/** It is checked from time to time, so that a request costs nothing for it. */
export class Backlog {
  readonly #socket: Duplex
  #response: ServerResponse | undefined
  #taken = 0
  #takenBefore = 0
  #stalled = 0
  #looks = 0

  constructor(socket: Duplex) {
    this.#socket = socket
  }

  /**
   * True once the client has had its time to take the response; only checks that find something left to write count, so
   * that a stream with nothing to say waits for as long as it likes.
   */
  isExhausted(response: ServerResponse | undefined, { answer, stalled }: AnswerLimits): boolean {
    const isNext = response !== this.#response
    if (isNext) {
      this.#response = response
      this.#looks = 0
    }
    if (this.#socket.writableLength === 0) {
      this.#stalled = 0
      return false
    }
    const taken = takenFrom(this.#socket)
    this.#stalled = isNext || taken !== this.#taken ? 0 : this.#stalled + 1
    this.#taken = taken
    if (isNext || taken - this.#takenBefore >= answerProgress) {
      this.#takenBefore = taken
      this.#looks = 0
    }
    this.#looks += 1
    return this.#stalled >= stalled || this.#looks > answer
  }
}
