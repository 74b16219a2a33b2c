package import Foundation
import PushSupport

/// The payload that Apple sees in place of encrypted content: a placeholder alert, and JSON around the ciphertext.
package struct EnvelopeText: Sendable {
    /// The error of a stored placeholder that cannot be decoded.
    package struct Damage: Error, Hashable {}

    /// The placeholder of a request that names none.
    static let standardPlaceholder: [String: JSONValue] = ["body": .string("New notification")]

    /// The text of the payload up to the name of the encryption key.
    package let opening: [UInt8]
    /// The text between the name of the encryption key and the ciphertext.
    package static let middle = Array(#"","data":""#.utf8)
    /// The text after the ciphertext.
    package static let closing = Array(#""}}}"#.utf8)

    /// The number of bytes that encryption adds: the encapsulated key and the tag.
    private static let overhead = 32 + 16

    /// Creates the text for a notification, or returns `nil` for content that is not encrypted.
    /// - Throws: ``Damage`` if the stored placeholder cannot be decoded.
    package init?(_ content: NotificationContent, notification: UUID) throws(Damage) {
        guard let placeholder = content.placeholder else { return nil }
        guard case .object(let alert)? = try? JSONValue(parsing: placeholder),
            let aps = try? JSONValue.object(["alert": .object(alert), "mutable-content": .integer(1)]).text
        else { throw Damage() }
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
    }

    /// Returns the length of the ciphertext of a payload of `length` bytes, in base64.
    package static func sealedLength(ofPayload length: Int) -> Int { (length + self.overhead + 2) / 3 * 4 }

    /// Returns the size in bytes of the payload that Apple gets for one of `count` bytes and the longest key name.
    package func size(ofPayload count: Int) -> Int {
        self.opening.count + InstallationPublicKey.maximumID + Self.middle.count
            + Self.sealedLength(ofPayload: count) + Self.closing.count
    }
}
