import PushTypes

/// An app that may be pushed to.
struct ProviderApp: Hashable, Sendable {
    var bundleID: Topic
    var teamID: String
    /// Indicates whether it may use broadcasts (reference 4.1).
    var allowsBroadcast = true
    /// The bytes of its new device tokens: 32, or 0 for sealed tokens of varying length; `nil` for the gateway's
    /// setting.
    var tokenLength: Int?

    /// The valid values of ``tokenLength``.
    static let tokenLengths = [0, TokenMinter.shortLength]
}

/// A change of an app. A property that is `nil` does not change.
struct ProviderAppChange: Hashable, Sendable {
    var allowsBroadcast: Bool?
    var tokenLength: Int??

    func apply(to app: inout ProviderApp) {
        if let allowsBroadcast { app.allowsBroadcast = allowsBroadcast }
        if let tokenLength { app.tokenLength = tokenLength }
    }
}

/// A provider certificate that this gateway has issued.
struct ProviderCertificate: Hashable, Sendable {
    /// The serial number in lower-case hexadecimal.
    var serial: String
    /// The subject's UID.
    var topic: Topic
    /// All topics that it may push to.
    var topics: Set<Topic>
    var environments: Set<PushEnvironment>
    var issuedAt: Timestamp
    var expiresAt: Timestamp
    var revokedAt: Timestamp?
}
