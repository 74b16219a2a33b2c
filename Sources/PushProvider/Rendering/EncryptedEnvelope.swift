import Foundation
import ProviderModel
import PushSupport
import PushTypes

/// Creates the payloads that Apple receives for encrypted content: a placeholder, and the ciphertext for one device.
struct EncryptedEnvelope: Sendable {
    private let sealer: ContentSealer
    private let text: EnvelopeText
    private let limit: Int

    /// Creates an envelope, or returns `nil` if the content is not encrypted.
    /// - Throws: ``RenderFailure/damagedContent`` if the stored content cannot be decoded.
    init?(_ content: NotificationContent, bundleID: Topic, notification: UUID) throws(RenderFailure) {
        do throws(EnvelopeText.Damage) {
            guard let text = try EnvelopeText(content, notification: notification) else { return nil }
            self.text = text
        } catch {
            throw .damagedContent
        }
        self.sealer = ContentSealer(bundleID: bundleID.name, notification: notification)
        self.limit = content.pushType.maximumPayloadSize
    }

    /// Returns the payload with the ciphertext for an installation.
    /// - Parameter payload: The payload that the installation obtains by decryption.
    /// - Throws: ``RenderFailure/unusableKey``; ``RenderFailure/tooLarge(size:limit:)`` for a payload above the limit.
    func seal(_ payload: [UInt8], to key: InstallationPublicKey) throws(RenderFailure) -> [UInt8] {
        let sealed: String
        do {
            sealed = try self.sealer.seal(Data(payload), to: Data(key.bytes))
        } catch {
            throw .unusableKey
        }
        var output: [UInt8] = []
        output.reserveCapacity(self.text.size(ofPayload: payload.count))
        output += self.text.opening
        JSONWriter.append(charactersOf: key.id[...], to: &output)
        output += EnvelopeText.middle
        output += sealed.utf8
        output += EnvelopeText.closing
        guard output.count <= self.limit else { throw .tooLarge(size: output.count, limit: self.limit) }
        return output
    }
}
