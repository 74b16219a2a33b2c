import PushTypes

/// An app that may be pushed to.
struct ProviderApp: Hashable, Sendable {
    var bundleID: Topic
    var teamID: String
    /// Whether broadcasts are switched on for it (reference 4.1).
    var allowsBroadcast = true
    /// Bytes of the device tokens that it gets from now on: 32, or 0 for sealed ones of varying length; `nil` for what the
    /// gateway's setting says.
    var tokenLength: Int?

    /// The values that ``tokenLength`` can have.
    static let tokenLengths = [0, TokenMinter.shortLength]
}

/// A change of an app by an operator. A member that is `nil` stays as it is.
struct ProviderAppChange: Hashable, Sendable {
    var allowsBroadcast: Bool?
    var tokenLength: Int??

    func apply(to app: inout ProviderApp) {
        if let allowsBroadcast { app.allowsBroadcast = allowsBroadcast }
        if let tokenLength { app.tokenLength = tokenLength }
    }
}

/// A provider's certificate that this gateway has issued.
struct ProviderCertificate: Hashable, Sendable {
    /// Lower-case hexadecimal.
    var serial: String
    /// The subject's UID.
    var topic: Topic
    /// All it may push to.
    var topics: Set<Topic>
    var environments: Set<PushEnvironment>
    var issuedAt: Timestamp
    var expiresAt: Timestamp
    var revokedAt: Timestamp?
}

/// What the checks of a provider's credentials ask for.
protocol TrustDirectory: Sendable {
    /// Differs from what it was before after any change of apps, keys or certificates.
    var changes: UInt64 { get }
    /// `nil` for one that was revoked, too.
    func key(_ keyID: String) -> RegisteredKey?
    func app(_ bundleID: Topic) -> ProviderApp?
    func isRevoked(certificate serial: String) -> Bool
}
