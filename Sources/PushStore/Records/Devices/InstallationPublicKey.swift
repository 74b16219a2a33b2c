/// The public key of an installation, to which the content of encrypted notifications is sealed.
package struct InstallationPublicKey: Hashable, Sendable {
    /// The length of a key, in bytes.
    package static let length = 32
    /// The maximum length of a key's name, in bytes.
    package static let maximumID = 64

    /// The name by which the installation finds its private key.
    package var id: String
    /// The X25519 public key, 32 bytes.
    package var bytes: [UInt8]

    package init(id: String, bytes: [UInt8]) { (self.id, self.bytes) = (id, bytes) }
}
