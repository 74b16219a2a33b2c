package import PushTypes

/// The identity of the key that signs provider tokens.
package struct ProviderTokenKey: Hashable, Sendable {
    package var teamID, keyID: String
    /// The SHA-256 of the public key, in hexadecimal. It distinguishes keys that claim the same ids.
    package var fingerprint: String

    package init(teamID: String, keyID: String, fingerprint: String) {
        (self.teamID, self.keyID, self.fingerprint) = (teamID, keyID, fingerprint)
    }
}

/// A provider token that is stored, so that it outlives the process.
///
/// Apple accepts a token for an hour, and a new one at most every 20 minutes by the wall clock (reference 2.1).
package struct ProviderTokenRecord: Hashable, Sendable {
    /// The age at which a token is replaced at its next use: 45 min.
    package static let renewal: Duration = .seconds(45 * 60)
    /// The maximum age of a token that is used: 55 min.
    package static let lifetime: Duration = .seconds(55 * 60)
    /// The minimum time between two tokens of a key: 20 min. If a token follows earlier, pushes are rejected.
    package static let spacing: Duration = .seconds(20 * 60)

    package var key: ProviderTokenKey
    package var text: String
    package var issuedAt: Timestamp
    /// A Boolean value that indicates whether the push service has rejected the token as expired.
    package var isRejected: Bool

    package init(key: ProviderTokenKey, text: String, issuedAt: Timestamp, isRejected: Bool = false) {
        (self.key, self.text, self.issuedAt, self.isRejected) = (key, text, issuedAt, isRejected)
    }

    /// Returns whether another token of the key is forbidden at `now`, because this one was issued less than
    /// ``spacing`` ago, or is less than that ahead of the clock.
    package func forbidsAnother(at now: Timestamp) -> Bool {
        max(now.since(self.issuedAt), self.issuedAt.since(now)) < Self.spacing
    }

    /// Returns whether a new token is to replace this one, because this one is rejected, 45 min old or from the future,
    /// and ``forbidsAnother(at:)`` is `false`.
    package func isDue(at now: Timestamp) -> Bool {
        guard !self.forbidsAnother(at: now) else { return false }
        return self.isRejected || now < self.issuedAt || now.since(self.issuedAt) >= Self.renewal
    }

    /// Returns whether requests may still use the token, because it is less than 55 min old or no other may be issued.
    package func isUsable(at now: Timestamp) -> Bool {
        if self.forbidsAnother(at: now) { return true }
        return now >= self.issuedAt && now.since(self.issuedAt) < Self.lifetime
    }
}
