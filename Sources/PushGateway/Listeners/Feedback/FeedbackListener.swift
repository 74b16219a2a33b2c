import Logging
import NIOCore
import NIOSSL
import PushSupport
import PushTypes
import PushWire

/// The feedback service, port 2196 (reference 6): what the handlers of its connections share.
///
/// A provider without a certificate, or with one of another authority, fails in the handshake. One whose certificate is
/// no good here (other environment, revoked) is cut off without the end that TLS gives to a complete list, so that it
/// is not taken for an empty one.
struct FeedbackListener: Sendable {
    let store: FeedbackStore
    let certificates: CertificateCheck
    /// How long after its time an entry is shown; Apple took hours, sometimes days. Default none.
    var delay: @Sendable (CertificateIdentity) -> Duration = { _ in .zero }
    var limits = FeedbackServerStateMachine.Limits()
    let time: any TimeSource
    let logger: Logger
    let turns = FeedbackReaderQueue()

    func initialize(_ channel: any Channel, _ fault: FaultDecision?) throws {
        let pipeline = channel.pipeline.syncOperations
        let end = FeedbackCloseHandler()
        if let tls = try? pipeline.handler(type: NIOSSLServerHandler.self) {
            try pipeline.addHandler(end, position: .before(tls))
        }
        try pipeline.addHandler(FeedbackServerHandler(door: self, end: end))
    }

    func page(_ topic: Topic, after token: DeviceToken?, for identity: CertificateIdentity) async throws
        -> [FeedbackEntry]
    {
        try await self.store.page(
            topic,
            after: token,
            until: self.time.now.advanced(by: .zero - self.delay(identity)),
            limit: self.limits.page
        )
    }

    /// A failure is logged: the next connection gets the same again.
    func clear(_ entries: [FeedbackEntry]) async {
        do {
            try await self.store.clear(entries)
        } catch {
            self.logger.error("feedback that was read could not be cleared", metadata: ["error": "\(error)"])
        }
    }
}
