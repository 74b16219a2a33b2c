package import Foundation
package import ProviderModel

/// The `apns-id`s of a notification's deliveries (decision 13).
///
/// The id is the same for every attempt to reach the recipient, so that a push that is sent again after a crash can be
/// recognized. The delivery can be found from the id without an index.
///
/// It is a UUID of version 8 (RFC 9562 section 5.8) in lower case. Its first 60 free bits are those of the
/// notification's id, and the other 62 are the recipient: the push of the notification `6f1c0a2b-9d3e-4abc-…` to
/// device 42 is `6f1c0a2b-9d3e-8abc-8000-00000000002a`.
package struct DeliveryID: Sendable {
    private static let recipientBits: UInt64 = 1 << 62 - 1
    private static let variant: UInt64 = 1 << 63

    /// The part of the id that is derived from the notification: `xxxxxxxx-xxxx-8xxx-`.
    private let prefix: [UInt8]

    package init(notification: UUID) {
        var text = Array(notification.uuidString.lowercased().utf8.prefix(19))
        if text.count > 14 { text[14] = UInt8(ascii: "8") }
        self.prefix = text
    }

    /// Returns the `apns-id` of the delivery to a recipient: a device's number, or a negative number for a token that
    /// the notification itself names.
    package func text(recipient: Int64) -> String {
        let bits = UInt64(bitPattern: recipient) & Self.recipientBits | Self.variant
        return String(unsafeUninitializedCapacity: 36) { buffer in
            var position = buffer.initialize(fromContentsOf: self.prefix)
            for nibble in 0..<16 {
                if nibble == 4 {
                    buffer.initializeElement(at: position, to: UInt8(ascii: "-"))
                    position += 1
                }
                let value = UInt8(truncatingIfNeeded: bits >> UInt64(60 - nibble * 4)) & 15
                let digit = value < 10 ? UInt8(ascii: "0") + value : UInt8(ascii: "a") - 10 + value
                buffer.initializeElement(at: position, to: digit)
                position += 1
            }
            return position
        }
    }

    /// Returns the prefix of the notification's id and the recipient in an `apns-id`, or `nil` for any other text.
    package static func parse(_ text: String) -> (notification: DeliveryPrefix, recipient: Int64)? {
        guard let id = UUID(uuidString: text), id.uuid.6 >> 4 == 8, id.uuid.8 >> 6 == 2 else { return nil }
        let bytes = id.uuid
        let low = [bytes.8, bytes.9, bytes.10, bytes.11, bytes.12, bytes.13, bytes.14, bytes.15]
        let bits = low.reduce(UInt64(0)) { $0 << 8 | UInt64($1) } & Self.recipientBits
        // The recipients of named tokens are negative numbers, whose upper two bits are not in the id.
        let recipient = Int64(bitPattern: bits << 2) >> 2
        return (DeliveryPrefix(of: id), recipient)
    }
}
