package import PushSupport
package import PushTypes

/// An app to which notifications are sent.
package struct AppRecord: Hashable, Sendable {
    package var id: Int64
    package var bundleID: Topic
    package var name: String?
    /// The pushes per second of all its campaigns together; `nil` for no limit.
    package var rate: Int?
    /// The tags and the attributes that installations may write themselves: none by default.
    package var installationTags = NamePatterns(), installationAttributes = NamePatterns()
    /// The most notifications of a user; `nil` for no limit.
    package var cap: FrequencyCap?
    package var createdAt: Timestamp
    /// The receipt level that apps may report at most of its notifications, where these say nothing else.
    package var receipts: ReceiptLevel = .none
}

/// Changes of an app's settings. What is `nil` stays.
package struct AppChanges: Hashable, Sendable {
    package var name: Update<String>?
    package var rate: Update<Int>?
    package var receipts: ReceiptLevel?
    package var installationTags, installationAttributes: NamePatterns?
    package var cap: Update<FrequencyCap>?

    package init(
        name: Update<String>? = nil,
        rate: Update<Int>? = nil,
        receipts: ReceiptLevel? = nil,
        cap: Update<FrequencyCap>? = nil
    ) {
        (self.name, self.rate, self.receipts, self.cap) = (name, rate, receipts, cap)
    }
}

/// An app's credential for the push service, in one environment. The store seals its secrets with the master key.
package enum CredentialRecord: Hashable, Sendable {
    /// A signing key for provider tokens, with its private key in PEM.
    case key(teamID: String, keyID: String, privateKey: String)
    /// A certificate and its key in one PEM text, and the key's passphrase if it has one.
    case certificate(pem: String, passphrase: String?)
    /// A certificate and its key in a `.p12` archive, with its passphrase if it has one.
    case archive(p12: [UInt8], passphrase: String?)
}

/// The state of an app in one environment, as it follows from the responses to its pushes.
package struct EnvironmentHealth: Hashable, Sendable {
    /// The time at which the circuit breaker opened; `nil` while it is closed and tokens are deactivated.
    package var breakerOpenSince: Timestamp?
    package var breakerReason: String?
    /// The time of the first push that was accepted with the credential; `nil` before that.
    package var provenAt: Timestamp?
    /// The epoch of the credential that all of this is about (``StoredCredential/epoch``).
    package var epoch: Int64

    package init(epoch: Int64 = 0) { self.epoch = epoch }
}
