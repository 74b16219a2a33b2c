public import PushTypes

/// The result of one push. Every push has exactly one.
public enum Outcome: Hashable, Sendable {
    /// The push service accepted the notification. It does not report its delivery.
    case accepted(Accepted)
    /// The push service rejected the notification.
    case rejected(Rejection)
    /// The push service did not process the notification: it is safe to send it again.
    case notSent(Failure)
    /// The request was sent and its response did not arrive: to send it again may show the notification twice.
    case unknown(Failure)

    /// The response of a push service that accepted a notification.
    public struct Accepted: Hashable, Sendable {
        /// The header `apns-id` of the response; for a broadcast `apns-request-id`.
        public var id: String
        /// The header `apns-unique-id` of the response, by which Apple's console finds the notification. Sandbox only.
        public var uniqueID: String?

        /// Creates the response.
        public init(id: String, uniqueID: String? = nil) {
            (self.id, self.uniqueID) = (id, uniqueID)
        }
    }

    /// The reason for the lack of a response.
    public struct Failure: Hashable, Sendable, CustomStringConvertible {
        /// The explanation for people. It holds no secret and no whole token.
        public var description: String
        /// The push service's reason for closing the connection, if it gave one that `Reason` has.
        public var reason: Reason?
        /// The reason for which there was no connection; `nil` for any other failure.
        public var fault: ConnectionFault?
        /// Indicates whether the push itself cannot be sent, such as for a header that HTTP/2 does not allow: each further
        /// try would end in the same way.
        public var isOfPush: Bool

        /// Creates a failure.
        public init(
            _ description: String,
            reason: Reason? = nil,
            fault: ConnectionFault? = nil,
            isOfPush: Bool = false
        ) {
            (self.description, self.reason, self.fault, self.isOfPush) = (description, reason, fault, isOfPush)
        }
    }
}
