package import PushTypes

/// The key that a provider token is signed with, told from all others.
package struct ProviderTokenKey: Hashable, Sendable {
    package var teamID: String
    package var keyID: String
    /// SHA-256 of the public key, in hexadecimal: two keys may claim the same ids.
    package var fingerprint: String

    package init(teamID: String, keyID: String, fingerprint: String) {
        self.teamID = teamID
        self.keyID = keyID
        self.fingerprint = fingerprint
    }
}

/// A provider token, as it is kept beyond the life of a process.
///
/// Apple accepts a token for an hour and a new one at most every 20 minutes (reference 2.1). Both are counted by the wall
/// clock, because claim `iat` is.
package struct ProviderTokenRecord: Hashable, Sendable {
    /// A token of this age is replaced by the next one who asks.
    package static let renewal: Duration = .seconds(45 * 60)
    /// A token of this age is not used any more.
    package static let lifetime: Duration = .seconds(55 * 60)
    /// No two tokens of a key are issued closer together than this.
    package static let spacing: Duration = .seconds(20 * 60)

    package var key: ProviderTokenKey
    package var text: String
    package var issuedAt: Timestamp
    /// The push service called it expired.
    package var isRefused: Bool

    package init(key: ProviderTokenKey, text: String, issuedAt: Timestamp, isRefused: Bool = false) {
        self.key = key
        self.text = text
        self.issuedAt = issuedAt
        self.isRefused = isRefused
    }

    /// Tells whether another token may not be issued at `now`.
    package func forbidsAnother(at now: Timestamp) -> Bool {
        max(now.since(self.issuedAt), self.issuedAt.since(now)) < Self.spacing
    }

    /// Tells whether another token is to take its place.
    package func isDue(at now: Timestamp) -> Bool {
        guard !self.forbidsAnother(at: now) else { return false }
        return self.isRefused || now < self.issuedAt || now.since(self.issuedAt) >= Self.renewal
    }

    /// Tells whether requests may carry it.
    package func isUsable(at now: Timestamp) -> Bool {
        if self.forbidsAnother(at: now) { return true }
        return now >= self.issuedAt && now.since(self.issuedAt) < Self.lifetime
    }
}

/// Provider tokens that outlive a process, sealed.
package protocol ProviderTokenStore: Sendable {
    /// Stores `offered` if the stored token of its key is missing or due, in one transaction: of all that offer one at the
    /// same time, one is stored.
    /// - Parameter refused: the moment of issue of a token that the push service has called expired. It is marked before,
    ///   if it is the one that is stored.
    /// - Returns: the token that is to be used.
    func providerToken(
        offering offered: ProviderTokenRecord,
        refused: Timestamp?,
        now: Timestamp
    ) async throws -> ProviderTokenRecord
}
