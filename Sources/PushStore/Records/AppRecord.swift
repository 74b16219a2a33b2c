package import PushTypes

/// An app that notifications can be sent to.
package struct AppRecord: Hashable, Sendable {
    package var id: Int64
    package var bundleID: Topic
    package var name: String?
    /// Pushes per second that all its campaigns together may send; `nil` is as fast as possible.
    package var rate: Int?
    package var createdAt: Timestamp

    package init(id: Int64, bundleID: Topic, name: String?, rate: Int? = nil, createdAt: Timestamp) {
        self.id = id
        self.bundleID = bundleID
        self.name = name
        self.rate = rate
        self.createdAt = createdAt
    }
}

/// What an app proves itself with to the push service, in one environment.
package enum CredentialRecord: Hashable, Sendable {
    /// `privateKey` is PEM. In the store only under the master key, like every secret here.
    case key(teamID: String, keyID: String, privateKey: String)
    /// A certificate and its key in one PEM text, and the key's passphrase if it has one.
    case certificate(pem: String, passphrase: String?)
    case archive(p12: [UInt8], passphrase: String?)
}

/// What the answers to one app's pushes in one environment have led to.
package struct EnvironmentHealth: Hashable, Sendable {
    /// Since when tokens are not deactivated; `nil` while they are.
    package var breakerOpenSince: Timestamp?
    package var breakerReason: String?
    /// When a push was first accepted with the credential; `nil` before that.
    package var provenAt: Timestamp?

    package init() {}
}
