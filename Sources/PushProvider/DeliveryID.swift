import Crypto
package import Foundation

/// The `apns-id` of a notification for a recipient: always the same, so that a resend after a crash is recognisable.
package enum DeliveryID {
    /// A UUID of version 8 (RFC 9562 section 5.8) from SHA-256 over both, in lower case.
    package static func make(notification: UUID, recipient: Int64) -> String {
        var hash = SHA256()
        hash.update(data: withUnsafeBytes(of: notification.uuid) { Data($0) })
        hash.update(data: withUnsafeBytes(of: recipient.bigEndian) { Data($0) })
        var bytes = Array(hash.finalize().prefix(16))
        bytes[6] = bytes[6] & 0x0f | 0x80
        bytes[8] = bytes[8] & 0x3f | 0x80
        var uuid = notification.uuid
        withUnsafeMutableBytes(of: &uuid) { $0.copyBytes(from: bytes) }
        return UUID(uuid: uuid).uuidString.lowercased()
    }
}
