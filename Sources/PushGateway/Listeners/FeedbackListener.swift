import Logging
import NIOCore
import NIOSSL
import PushHTTP
import PushSupport
import PushTypes
import PushWire

/// The listener of the feedback service, port 2196 (reference 6), with the components that its connections share.
///
/// The handshake fails for a client without a certificate, and for one with a certificate of another authority. The
/// connection of a client whose certificate is not valid here, because of its environment or because it is revoked, is
/// aborted without the closure alert of TLS, so that the client does not mistake it for an empty list.
struct FeedbackListener: Sendable {
    let store: FeedbackList
    let certificates: CertificateCheck
    /// The closure that returns the time for which new entries stay hidden from a client. Apple's service took hours,
    /// sometimes days. Default none.
    var delay: @Sendable (CertificateIdentity) -> Duration = { _ in .zero }
    var limits = FeedbackServerStateMachine.Limits()
    let time: any TimeSource
    let logger: Logger
    let readerQueue = FeedbackReaderQueue()

    /// Adds the connection's handler behind TLS. This method is called by ``Listener`` for each new connection.
    /// - Parameter fault: The fault of the connection, which ``Listener`` applies, or `nil` if there is none.
    func initialize(_ channel: any Channel, _ fault: FaultDecision?) throws {
        let pipeline = channel.pipeline.syncOperations
        let closeHandler = FeedbackCloseHandler()
        if let tls = try? pipeline.handler(type: NIOSSLServerHandler.self) {
            try pipeline.addHandler(closeHandler, position: .before(tls))
        }
        try pipeline.addHandler(FeedbackServerHandler(listener: self, closeHandler: closeHandler))
    }

    /// Returns the time of the latest entries that a client may receive. Entries of later times stay hidden from it.
    func latest(for identity: CertificateIdentity) -> Timestamp {
        self.time.now.advanced(by: .zero - self.delay(identity))
    }
}

extension FeedbackListener: FeedbackSource {
    func identify(_ certificate: [UInt8]?) -> Result<CertificateIdentity, FeedbackRejection> {
        self.certificates.identity(of: certificate).mapError { FeedbackRejection($0.text) }
    }

    func queue(of identity: CertificateIdentity) -> Topic { identity.defaultTopic }

    func topics(of identity: CertificateIdentity) -> [Topic] {
        identity.topics.union([identity.defaultTopic]).sorted { $0.name < $1.name }
    }

    func page(
        _ topic: Topic,
        of identity: CertificateIdentity,
        after token: DeviceToken?,
        limit: Int
    ) async throws -> [FeedbackEntry] {
        try await self.store.page(topic, after: token, until: self.latest(for: identity), limit: limit)
    }

    func clear(_ entries: [FeedbackEntry]) async throws { try await self.store.clear(entries) }

    func tuple(_ entry: FeedbackEntry) -> FeedbackTuple { entry.tuple }
}
