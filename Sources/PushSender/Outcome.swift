import PushProtocol

/// What became of one notification: always exactly one of these.
package enum Outcome: Hashable, Sendable {
    /// The push service took it. Accepted is not delivered.
    case accepted(Accepted)
    /// The push service answered with a refusal.
    case rejected(Rejection)
    /// Certainly not processed by the push service: safe to send again.
    case notSent(Failure)
    /// Sent, but the answer is missing: sending again may show it twice.
    case unknown(Failure)

    package struct Accepted: Hashable, Sendable {
        /// `apns-id`, as the service echoed it.
        package var id: String
        /// `apns-unique-id`: sandbox only.
        package var uniqueID: String?

        package init(id: String, uniqueID: String? = nil) {
            self.id = id
            self.uniqueID = uniqueID
        }
    }

    package struct Failure: Hashable, Sendable {
        /// For people; holds no secret and no whole token.
        package var description: String

        package init(_ description: String) {
            self.description = description
        }
    }
}
