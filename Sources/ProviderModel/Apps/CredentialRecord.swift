package import PushTypes

/// An app's credential for the push service, in one environment. The store seals its secrets with the master key.
package enum CredentialRecord: Hashable, Sendable {
    /// A signing key for provider tokens, with its private key in PEM.
    case key(teamID: String, keyID: String, privateKey: String)
    /// A certificate and its key in one PEM text, and the key's passphrase if it has one.
    case certificate(pem: String, passphrase: String?)
    /// A certificate and its key in a `.p12` archive, with its passphrase if it has one.
    case archive(p12: [UInt8], passphrase: String?)
}

/// A credential as it is stored.
package struct StoredCredential: Hashable, Sendable {
    package var credential: CredentialRecord
    /// A number that rises with each change of the credential, so that responses to an earlier one are ignored.
    package var epoch: Int64
    package var transport: PushTransport

    package init(_ credential: CredentialRecord, epoch: Int64, transport: PushTransport = .http2) {
        (self.credential, self.epoch, self.transport) = (credential, epoch, transport)
    }
}
