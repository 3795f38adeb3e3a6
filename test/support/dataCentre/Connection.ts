/** A connection of a client: its packets, and the messages of its session. */
import { Long } from "@mtcute/core"
import { TlBinaryReader, TlBinaryWriter } from "@mtcute/core/utils.js"
import * as crypto from "node:crypto"
import type * as net from "node:net"
import * as zlib from "node:zlib"
import type { Centre, Key } from "./Centre.ts"
import * as Cipher from "./Cipher.ts"
import { happening } from "./Faults.ts"
import * as Handshake from "./Handshake.ts"
import { read, type Word, write } from "./Words.ts"

interface Session {
  readonly key: Key
  readonly id: Long
  /** How many messages with content were sent. */
  sent: number
  isKnown: boolean
}

const ids = { container: 0x73f1f8dc, gzip: 0x3072cfa1, result: 0xf35c6d01, salts: 0xae500895 }

let last = 0n

/** Message ids grow with time; answers and what nobody asked for differ in their last bits. */
const messageId = (kind: "answer" | "push"): Long => {
  const time = (BigInt(Date.now()) << 32n) / 1000n & ~3n
  last = time > last ? time : last + 4n
  return Long.fromString((last + (kind === "answer" ? 1n : 3n)).toString())
}

export class Connection {
  readonly #socket: net.Socket
  readonly #centre: Centre
  #buffer: Buffer = Buffer.alloc(0)
  #started = false
  #handshake: (request: Word) => Word
  session: Session | undefined
  /** It asks without pushes. */
  isReading = false

  constructor(socket: net.Socket, centre: Centre) {
    this.#socket = socket
    this.#centre = centre
    this.#handshake = Handshake.make(centre.identity, (agreed) => centre.add(agreed))
    socket.on("data", (data) => this.#take(data)).on("error", () => {}).on("close", () => centre.gone(this))
  }

  cut(): void {
    this.#socket.destroy()
  }

  #take(data: Buffer): void {
    this.#buffer = Buffer.concat([this.#buffer, data])
    if (!this.#started) {
      if (this.#buffer.length < 4) return
      if (this.#buffer.readUInt32LE(0) !== 0xeeeeeeee) return this.cut()
      this.#started = true
      this.#buffer = this.#buffer.subarray(4)
    }
    while (this.#buffer.length >= 4) {
      const length = this.#buffer.readUInt32LE(0) & 0x7fffffff
      if (this.#buffer.length < 4 + length) return
      const packet = this.#buffer.subarray(4, 4 + length)
      this.#buffer = this.#buffer.subarray(4 + length)
      try {
        this.#packet(packet)
      } catch {
        return this.cut()
      }
    }
  }

  #frame(packet: Uint8Array): void {
    const head = Buffer.alloc(4)
    head.writeUInt32LE(packet.length)
    if (!this.#socket.destroyed) this.#socket.write(Buffer.concat([head, packet]))
  }

  #packet(packet: Buffer): void {
    if (packet.readBigUInt64LE(0) === 0n) return this.#plain(read(packet.subarray(20)))
    const key = this.#centre.keys.get(packet.subarray(0, 8).toString("hex"))
    if (key === undefined || this.#centre.forgotten.has(key.id)) {
      const code = Buffer.alloc(4)
      code.writeInt32LE(-404)
      return this.#frame(code)
    }
    const packetKey = packet.subarray(8, 24)
    const content = Cipher.decrypt(Cipher.packetSecret(key.secret, packetKey, "client"), packet.subarray(24))
    if (!Cipher.packetKey(key.secret, content, "client").equals(packetKey)) return this.cut()
    const reader = new TlBinaryReader(undefined, content)
    reader.long()
    const id = reader.long()
    if (this.session === undefined || !this.session.id.equals(id)) this.session = { key, id, sent: 0, isKnown: false }
    const [message, , length] = [reader.long(), reader.uint(), reader.uint()]
    this.#centre.packets.set(key.id, (this.#centre.packets.get(key.id) ?? 0) + 1)
    this.#message(this.session, message, reader.raw(length))
  }

  #plain(request: Word): void {
    if (happening(this.#centre.faults, null, request) !== undefined) return this.cut()
    const content = write(this.#handshake(request))
    const writer = TlBinaryWriter.manual(20 + content.length)
    writer.long(Long.ZERO)
    writer.long(messageId("answer"))
    writer.uint(content.length)
    writer.raw(content)
    this.#frame(writer.result())
  }

  /** Sends a message of the session; one with content is counted. */
  send(session: Session, content: Uint8Array, kind: "answer" | "push", hasContent: boolean): void {
    const sequence = session.sent * 2 + (hasContent ? 1 : 0)
    if (hasContent) session.sent++
    const bare = 32 + content.length
    const padding = 12 + (16 - (bare + 12) % 16) % 16
    const writer = TlBinaryWriter.manual(bare + padding)
    writer.long(session.key.salt)
    writer.long(session.id)
    writer.long(messageId(kind))
    writer.uint(sequence)
    writer.uint(content.length)
    writer.raw(content)
    writer.raw(crypto.randomBytes(padding))
    const plain = writer.result()
    const packetKey = Cipher.packetKey(session.key.secret, plain, "server")
    const sealed = Cipher.encrypt(Cipher.packetSecret(session.key.secret, packetKey, "server"), plain)
    this.#frame(Buffer.concat([Buffer.from(session.key.id, "hex"), packetKey, sealed]))
  }

  #message(session: Session, id: Long, content: Uint8Array): void {
    if (!session.isKnown) {
      session.isKnown = true
      const created = { firstMsgId: id, uniqueId: Long.fromNumber(1), serverSalt: session.key.salt }
      this.send(session, write({ _: "mt_new_session_created", ...created }), "push", true)
    }
    const reader = new TlBinaryReader(undefined, content)
    switch (reader.peekUint()) {
      case ids.container:
        reader.uint()
        for (let left = reader.uint(); left > 0; left--) {
          const [inner, , length] = [reader.long(), reader.uint(), reader.uint()]
          this.#message(session, inner, reader.raw(length))
        }
        return
      case ids.gzip:
        reader.uint()
        return this.#message(session, id, zlib.unzipSync(reader.bytes()))
      default:
        return this.#request(session, id, read(content))
    }
  }

  #request(session: Session, id: Long, request: Word): void {
    const service = (word: Word) => this.send(session, write(word), "answer", false)
    switch (request._) {
      case "mt_msgs_ack":
      case "mt_http_wait":
        return
      case "mt_ping":
      case "mt_ping_delay_disconnect":
        return service({ _: "mt_pong", msgId: id, pingId: request["pingId"] })
      case "mt_get_future_salts": {
        const now = Math.floor(Date.now() / 1000)
        const writer = TlBinaryWriter.manual(36)
        writer.uint(ids.salts)
        writer.long(id)
        writer.int(now)
        writer.uint(1)
        writer.int(now - 60)
        writer.int(now + 86_400)
        writer.long(session.key.salt)
        return this.send(session, writer.result(), "answer", false)
      }
      case "mt_msgs_state_req":
        return service({ _: "mt_msgs_state_info", reqMsgId: id, info: Buffer.alloc(request["msgIds"].length, 4) })
      case "mt_rpc_drop_answer":
        return this.#result(session, id, write({ _: "mt_rpc_answer_unknown" }))
      case "mt_destroy_session":
        return service({ _: "mt_destroy_session_none", sessionId: request["sessionId"] })
      case "mt_destroy_auth_key":
        this.#centre.keys.delete(session.key.id)
        return service({ _: "mt_destroy_auth_key_ok" })
      default: {
        const { asked, pushes } = unwrapped(session.key, request)
        // Further connections may read: what only reads gets no pushes, and does not look like a thief.
        this.isReading = !pushes
        if (pushes) this.#centre.used(this, session.key)
        void this.#call(session, id, asked)
      }
    }
  }

  async #call(session: Session, id: Long, request: Word): Promise<void> {
    const { after, does } = happening(this.#centre.faults, session.key, request) ?? {}
    if (does === "drop before") return this.cut()
    const answer = await this.#centre.answer(session.key, request, typeof does === "object" ? does : undefined)
    await after
    if (does === "drop after") return this.cut()
    if (does === "stay silent") return
    this.#result(session, id, answer)
  }

  #result(session: Session, id: Long, content: Uint8Array): void {
    const writer = TlBinaryWriter.manual(12 + content.length)
    writer.uint(ids.result)
    writer.long(id)
    writer.raw(content)
    this.send(session, writer.result(), "answer", true)
  }
}

const wrappers = new Set(["invokeWithLayer", "initConnection", "invokeWithoutUpdates", "invokeAfterMsg"])

/** What is asked, without what stands around it; the texts of the client's device are kept with its key. */
const unwrapped = (key: Key, request: Word): { readonly asked: Word; readonly pushes: boolean } => {
  let asked = request
  let pushes = true
  while (wrappers.has(asked._)) {
    if (asked._ === "invokeWithoutUpdates") pushes = false
    if (asked._ === "initConnection") key.of["device"] = asked
    asked = asked["query"]
  }
  return { asked, pushes }
}
