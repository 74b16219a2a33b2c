public import PushTypes

/// What became of one notification: always exactly one of these.
public enum Outcome: Hashable, Sendable {
    /// The push service took it. Accepted is not delivered.
    case accepted(Accepted)
    /// The push service answered with a refusal.
    case rejected(Rejection)
    /// Certainly not processed by the push service: safe to send again.
    case notSent(Failure)
    /// Sent, but the answer is missing: sending again may show it twice.
    case unknown(Failure)

    public struct Accepted: Hashable, Sendable {
        /// `apns-id`, as the service echoed it.
        public var id: String
        /// `apns-unique-id`: sandbox only.
        public var uniqueID: String?

        public init(id: String, uniqueID: String? = nil) {
            self.id = id
            self.uniqueID = uniqueID
        }
    }

    public struct Failure: Hashable, Sendable {
        /// For people; holds no secret and no whole token.
        public var description: String
        /// What the push service gave as the reason for ending the connection, if it is one that is known.
        public var reason: Reason?

        public init(_ description: String, reason: Reason? = nil) {
            self.description = description
            self.reason = reason
        }
    }
}
