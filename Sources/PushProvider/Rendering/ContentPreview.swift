import Crypto
import Foundation
package import ProviderModel
package import PushStore
package import PushTypes

/// The payload that one device would receive, shown before a notification is sent.
package struct ContentPreview: Hashable, Sendable {
    /// The JSON text that the device receives, after decryption if the content is encrypted.
    package var payload: [UInt8]
    /// The JSON text that Apple receives if the content is encrypted, or `nil` if it is the same as ``payload``.
    package var encrypted: [UInt8]?
    /// The localization for the device, in lower case with hyphens, or `nil` for the default.
    package var locale: String?

    /// The size of the payload that is sent, in bytes.
    package var size: Int { self.encrypted?.count ?? self.payload.count }

    /// Renders a preview.
    /// - Parameters:
    ///   - profile: The profile of the device, or `nil` for the default variant with default or empty variables.
    ///   - badge: The badge count that the device would show.
    ///   - key: The key of the device, for encrypted content, or `nil` to use an example key.
    /// - Throws: ``RenderFailure`` if sending to this device would fail.
    package init(
        _ content: NotificationContent,
        bundleID: Topic,
        for profile: RecipientProfile?,
        badge: Int? = nil,
        key: InstallationPublicKey? = nil
    ) throws(RenderFailure) {
        var renderer = try ContentRenderer(content)
        if let profile {
            self.payload = try renderer.render(for: profile, badge: badge)
            self.locale = renderer.variant(for: profile.locale)
        } else {
            self.payload = renderer.samples().first?.payload ?? []
        }
        guard let envelope = try EncryptedEnvelope(content, bundleID: bundleID, notification: UUID()) else { return }
        let key = key ?? InstallationPublicKey(id: "example", bytes: Self.exampleKey)
        self.encrypted = try envelope.seal(self.payload, to: key)
    }

    /// The public key of a new key pair, whose private key is discarded.
    private static var exampleKey: [UInt8] { Array(Curve25519.KeyAgreement.PrivateKey().publicKey.rawRepresentation) }
}
