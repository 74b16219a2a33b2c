package import PushProtocol

/// An app that notifications can be sent to.
package struct AppRecord: Hashable, Sendable {
    package var id: Int64
    package var bundleID: Topic
    package var name: String?
    package var createdAt: Timestamp

    package init(id: Int64, bundleID: Topic, name: String?, createdAt: Timestamp) {
        self.id = id
        self.bundleID = bundleID
        self.name = name
        self.createdAt = createdAt
    }
}

/// What an app proves itself with to the push service, in one environment.
package struct CredentialRecord: Hashable, Sendable {
    package var teamID: String
    package var keyID: String
    /// PEM. In the store only under the master key.
    package var privateKey: String

    package init(teamID: String, keyID: String, privateKey: String) {
        self.teamID = teamID
        self.keyID = keyID
        self.privateKey = privateKey
    }
}
