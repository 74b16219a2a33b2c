package import PushTypes

/// The facts that decide about an attempt to sign in with a name.
package struct SignInCandidate: Hashable, Sendable {
    package var person: PersonRecord
    /// The stored password; `nil` for a person who has none yet.
    package var password: String?
    /// `true` if the person has signed in from this network before.
    package var isKnownNetwork: Bool
}

/// A session that begins, with what else changes in its transaction.
package struct SignInRecord: Sendable {
    package var session: SessionRecord
    /// The SHA-256 of the session's token.
    package var hash: [UInt8]
    /// The network from which it begins.
    package var network: [UInt8]
    /// The time of the wall clock.
    package var now: Timestamp
    /// The longest idle time of a session.
    package var idle: Duration

    package init(session: SessionRecord, hash: [UInt8], network: [UInt8], now: Timestamp, idle: Duration) {
        (self.session, self.hash, self.network) = (session, hash, network)
        (self.now, self.idle) = (now, idle)
    }
}
