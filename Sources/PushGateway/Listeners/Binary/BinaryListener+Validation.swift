import Foundation
import NIOCore
import PushTypes
import PushWire

/// The checks of a notification of the binary protocol.
extension BinaryListener {
    /// The result of the checks of one notification.
    enum Evaluation: Hashable, Sendable {
        /// Submit the push, after the delay that a fault asks for.
        case submit(AcceptedPush, after: Duration?)
        /// The notification counts as accepted. Also with an inactive token, which is not an error here: the feedback
        /// service lists it (reference 5.3.9).
        case accepted
        case reject(BinaryStatus)
        /// A fault leaves the notification without a result.
        case ignored
    }

    /// Checks a notification for the certificate's own topic, and reports an inactive token to the router.
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
                expiration: Self.expiration(notification),
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

    /// Returns `nil` if the requested priority is an error. An absent priority never is.
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
