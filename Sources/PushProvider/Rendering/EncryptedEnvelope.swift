import Foundation
import ProviderModel
import PushStore
import PushSupport
import PushTypes

/// The payload that Apple sees in place of encrypted content: a placeholder, and the ciphertext for one installation.
struct EncryptedEnvelope: Sendable {
    /// The placeholder of a request that names none.
    static let standardPlaceholder: [String: JSONValue] = ["body": .string("New notification")]

    private let sealer: ContentSealer
    /// The text of the payload up to the name of the key.
    private let opening: [UInt8]
    private static let middle = Array(#"","data":""#.utf8)
    private static let closing = Array(#""}}}"#.utf8)
    private let limit: Int

    /// - Returns: `nil` for content that is not encrypted.
    /// - Throws: ``RenderFailure/damagedContent``.
    init?(_ content: NotificationContent, bundleID: Topic, notification: UUID) throws(RenderFailure) {
        guard let placeholder = content.placeholder else { return nil }
        guard case .object(let alert)? = try? JSONValue(parsing: placeholder),
            let aps = try? JSONValue.object(["alert": .object(alert), "mutable-content": .integer(1)]).text
        else { throw .damagedContent }
        var opening = JSONWriter()
        opening.raw(#"{"aps":"#)
        opening.raw(aps)
        opening.raw(#",""#)
        opening.raw(Data(PayloadMarker.name.utf8))
        opening.raw(#"":{"id":""#)
        opening.raw(Data(notification.uuidString.utf8))
        if content.receipts != .none {
            opening.raw(#"","receipts":""#)
            opening.raw(Data(content.receipts.word.utf8))
        }
        opening.raw(#"","sealed":{"key":""#)
        self.opening = opening.bytes
        self.sealer = ContentSealer(bundleID: bundleID.name, notification: notification)
        self.limit = content.pushType.maximumPayloadSize
    }

    /// Returns the payload for an installation.
    /// - Parameter payload: The payload that the installation sees after decryption.
    /// - Throws: ``RenderFailure/unusableKey``, ``RenderFailure/tooLarge(size:limit:)``.
    func seal(_ payload: [UInt8], to key: InstallationPublicKey) throws(RenderFailure) -> [UInt8] {
        let sealed: String
        do {
            sealed = try self.sealer.seal(Data(payload), to: Data(key.bytes))
        } catch {
            throw .unusableKey
        }
        var output: [UInt8] = []
        output.reserveCapacity(self.size(ofPayload: payload.count))
        output += self.opening
        JSONWriter.append(charactersOf: key.id[...], to: &output)
        output += Self.middle
        output += sealed.utf8
        output += Self.closing
        guard output.count <= self.limit else { throw .tooLarge(size: output.count, limit: self.limit) }
        return output
    }

    /// Returns the size of the payload that Apple gets, in bytes, for a payload of `count` bytes and a key with a name of
    /// maximum length.
    func size(ofPayload count: Int) -> Int {
        self.opening.count + InstallationPublicKey.maximumID + Self.middle.count
            + ContentSealer.sealedLength(ofPayload: count) + Self.closing.count
    }
}
