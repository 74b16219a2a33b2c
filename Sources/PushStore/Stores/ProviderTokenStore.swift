package import PushTypes

/// Provider tokens that outlive a process, sealed.
package protocol ProviderTokenStore: Sendable {
    /// Stores `offered` if the stored token of its key is missing or due. The check and the write are one transaction:
    /// of several callers at the same time, one stores its token.
    /// - Parameter rejected: The time of issue of a token that the push service has called expired. If that token is
    ///   the stored one, it is marked first.
    /// - Returns: The token that is to be used.
    func providerToken(
        offering offered: ProviderTokenRecord,
        rejected: Timestamp?,
        now: Timestamp
    ) async throws -> ProviderTokenRecord
}
