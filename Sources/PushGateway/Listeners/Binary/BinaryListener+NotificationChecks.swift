import Foundation
import NIOCore
import PushTypes
import PushWire

extension BinaryListener {
    enum Evaluation: Hashable, Sendable {
        /// Submits the push, after a fault's delay if there is one.
        case submit(AcceptedPush, after: Duration?)
        /// Treats the notification as accepted. This includes one with an inactive token, which the feedback service
        /// lists (APNs reference 5.3.9).
        case accepted
        case reject(BinaryStatus)
        /// Sends no result for the notification, because of a fault.
        case ignored
    }

    /// Checks a notification against the certificate's topic. An inactive token is reported to the router.
    /// - Parameter delay: The delay that a fault adds before the notification is submitted, or `nil` if there is none.
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

    /// Returns the priority of the push, or `nil` if the requested one is invalid. An absent priority is always valid.
    private func priority(_ notification: BinaryNotification) -> Priority? {
        guard notification.priority != .powerAware else { return .powerAware }
        guard WakePayload.isOnlyWake(notification.payload) else { return .immediate }
        return self.isStrict && notification.priority == .immediate ? nil : .powerAware
    }
}
