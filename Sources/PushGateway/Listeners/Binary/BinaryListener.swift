import Foundation
import Logging
import NIOCore
import PushSupport
import PushTypes
import PushWire

/// The listener of the binary protocol, port 2195 (reference 5), with the components that its connections share.
///
/// The handshake fails for a client without a certificate, and for one with a certificate of another authority. A
/// client whose certificate is not valid here, because of its environment or because it is revoked, receives status 3
/// for its first notification. That status is about the certificate and not about the notification.
struct BinaryListener: Sendable {
    /// Returns the status of a device token: active, unregistered or unknown.
    let status: @Sendable (DeviceToken) -> TokenStatus
    let submitter: any PushSubmitter
    let certificates: CertificateCheck
    let faults: FaultPlan
    /// A Boolean value that indicates whether priority 10 is an error for a push that only wakes the app (reference
    /// 5.1). Otherwise the push has priority 5.
    var isStrict = false
    var limits = BinaryServerStateMachine.Limits()
    let time: any TimeSource
    let logger: Logger

    /// Adds the connection's handler behind TLS; called by ``Listener`` for each new connection.
    /// - Parameter fault: The fault of the connection, which ``Listener`` applies; `nil` for none.
    func initialize(_ channel: any Channel, _ fault: FaultDecision?) throws {
        try channel.pipeline.syncOperations.addHandler(BinaryServerHandler(listener: self))
    }

    /// Returns the fault that applies to a notification; `nil` for none.
    /// - Parameter ordinal: The number of the notification on its connection, from 1.
    func fault(_ notification: BinaryNotification, from identity: CertificateIdentity, ordinal: Int) -> FaultDecision? {
        self.faults.decide(
            at: .request,
            for: FaultSubject(
                listener: .binary,
                environment: self.certificates.environment,
                topic: identity.defaultTopic,
                token: DeviceToken(bytes: notification.token),
                credential: identity.serial,
                ordinal: ordinal
            ),
            now: self.time.now
        )
    }
}

/// The checks of a notification of the binary protocol.
extension BinaryListener {
    /// The result of the checks of one notification.
    enum Evaluation: Hashable, Sendable {
        /// Submit the push, after a fault's delay if there is one.
        case submit(AcceptedPush, after: Duration?)
        /// Treat the notification as accepted. This includes one with an inactive token, which the feedback service
        /// lists (reference 5.3.9).
        case accepted
        case reject(BinaryStatus)
        /// Send no result for the notification, because of a fault.
        case ignored
    }

    /// Checks a notification against the certificate's topic. An inactive token is reported to the router.
    func evaluate(
        _ notification: BinaryNotification,
        from identity: CertificateIdentity,
        after delay: Duration? = nil
    ) -> Evaluation {
        let (topic, apnsID) = (identity.defaultTopic, UUID().uuidString)
        let hash = TopicHash(topic)
        guard let token = DeviceToken(bytes: notification.token) else { return .reject(.invalidTokenSize) }
        switch self.status(token) {
        case .active(let device, hash):
            guard let priority = self.priority(notification) else { return .reject(.protocolError) }
            let push = PushNotification(
                id: apnsID,
                topic: topic,
                pushType: nil,
                priority: priority,
                expiration: notification.pushExpiration,
                // A copy, because the slice would keep all bytes of its read in memory.
                payload: ByteBuffer(bytes: notification.payload.readableBytesView)
            )
            let accepted = AcceptedPush(notification: push, token: token, device: device, topicHash: hash)
            return .submit(accepted, after: delay)
        case .unregistered(let gone) where gone.topic == hash:
            self.submitter.rejected(gone, apnsID: apnsID)
            return .accepted
        case .active, .unregistered, .unknown: return .reject(.invalidToken)
        }
    }

    /// Returns the priority of the push; `nil` if the requested one is invalid. An absent priority is always valid.
    private func priority(_ notification: BinaryNotification) -> Priority? {
        guard notification.priority != .powerAware else { return .powerAware }
        guard WakePayload.isOnlyWake(notification.payload) else { return .immediate }
        return self.isStrict && notification.priority == .immediate ? nil : .powerAware
    }
}
