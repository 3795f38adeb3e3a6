/**
 * The library of the platform's protocol, under neutral names. Only this file may name the library
 * (specification, chapter 0); whatever needs the library imports it from here.
 */
export { TcpConnection } from "@fuman/node"
export {
  type IMtStorageProvider as WireStorage,
  IntermediatePacketCodec,
  Long,
  MtClient as WireClient,
  type TelegramTransport as WireTransport,
  type tl as wire
} from "@mtcute/core"
export {
  addPublicKey,
  BaseCryptoProvider,
  type BasicDcOption as Address,
  computeNewPasswordHash,
  computeSrpParams,
  type ICryptoProvider as CryptoProvider,
  isTlRpcError as isRefusal,
  parsePublicKey
} from "@mtcute/core/utils.js"
