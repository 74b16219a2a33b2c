import PushTypes

/// Answers the queries of the checks of a provider's credentials.
protocol TrustDirectory: Sendable {
    /// A number that every change of apps, keys or certificates changes.
    var changes: UInt64 { get }
    /// Returns a registered key; `nil` also for a revoked one.
    func key(_ keyID: String) -> RegisteredKey?
    func app(_ bundleID: Topic) -> ProviderApp?
    func isRevoked(certificate serial: String) -> Bool
}
