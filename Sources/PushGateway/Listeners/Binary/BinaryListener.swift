import Foundation
import Logging
import NIOCore
import PushSupport
import PushTypes
import PushWire

/// The legacy binary interface, port 2195 (reference 5): what the handlers of its connections share, and the checks of
/// a notification.
///
/// A provider without a certificate, or with one of another authority, fails in the handshake. One whose certificate is
/// no good here (other environment, revoked) is told so at its first notification: status 3, which means the
/// certificate and not the notification.
struct BinaryListener: Sendable {
    /// What became of a token (``PushDirectory``).
    let status: @Sendable (DeviceToken) -> TokenStatus
    let intake: any PushSubmitter
    let certificates: CertificateCheck
    let faults: FaultPlan
    /// Whether priority 10 for a push that only wakes the app is an error (reference 5.1), or counts as 5.
    var isStrict = false
    var limits = BinaryServerStateMachine.Limits()
    let time: any TimeSource
    let logger: Logger

    /// What becomes of a notification.
    enum Verdict: Hashable, Sendable {
        case submit(AcceptedPush)
        /// Its token is gone. That is no error here: the feedback service tells (reference 5.3.9).
        case gone
        case refuse(BinaryStatus)
    }

    func initialize(_ channel: any Channel, _ fault: FaultDecision?) throws {
        try channel.pipeline.syncOperations.addHandler(BinaryServerHandler(door: self))
    }

    /// What to do wrong with a notification, the connection's `ordinal`th.
    func fault(_ notification: BinaryNotification, from identity: CertificateIdentity, ordinal: Int) -> FaultDecision? {
        var random = SystemRandomNumberGenerator()
        return self.faults.decide(
            at: .request,
            for: FaultSubject(
                door: .binary,
                environment: self.certificates.environment,
                topic: identity.defaultTopic,
                token: DeviceToken(bytes: notification.token),
                credential: identity.serial,
                ordinal: ordinal
            ),
            random: &random,
            now: self.time.now
        )
    }

    /// Checks a notification, which is about the certificate's own topic. One whose token is gone is told to the core.
    func judge(_ notification: BinaryNotification, from identity: CertificateIdentity) -> Verdict {
        let (topic, apnsID) = (identity.defaultTopic, UUID().uuidString)
        let hash = TopicHash(topic)
        guard let token = DeviceToken(bytes: notification.token) else { return .refuse(.invalidTokenSize) }
        switch self.status(token) {
        case .active(let device, hash):
            guard let priority = self.priority(notification) else { return .refuse(.protocolError) }
            let push = PushNotification(
                id: apnsID,
                topic: topic,
                pushType: nil,
                priority: priority,
                expiration: Self.expiration(notification),
                // A copy, or these few bytes would keep all that came with them.
                payload: ByteBuffer(bytes: notification.payload.readableBytesView)
            )
            return .submit(AcceptedPush(notification: push, token: token, device: device, topicHash: hash))
        case .gone(let device, hash, let since):
            self.intake.refusedUnregistered(token, device: device, topic: hash, apnsID: apnsID, since: since)
            return .gone
        case .active, .gone, .unknown:
            return .refuse(.invalidToken)
        }
    }

    /// `nil` where the provider asks for what is an error. A priority that nobody asked for never is.
    private func priority(_ notification: BinaryNotification) -> Priority? {
        guard notification.priority != .powerAware else { return .powerAware }
        guard WakePayload.isOnlyWake(notification.payload) else { return .immediate }
        return self.isStrict && notification.priority == .immediate ? nil : .powerAware
    }

    private static func expiration(_ notification: BinaryNotification) -> Expiration {
        switch notification.expiration {
        case nil: .servicePolicy
        case 0: .immediate
        case let seconds?: .at(seconds: Int64(seconds))
        }
    }
}
