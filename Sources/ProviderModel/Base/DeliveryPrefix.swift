package import Foundation

/// The first 60 bits of a notification's id without the UUID version. The `apns-id`s of its pushes begin with them.
/// They are unique in the store.
package struct DeliveryPrefix: Hashable, Sendable {
    package let bits: Int64

    package init(bits: Int64) { self.bits = bits }

    /// Creates the prefix of a notification's id.
    package init(of notification: UUID) {
        let bytes = notification.uuid
        let high = [bytes.0, bytes.1, bytes.2, bytes.3, bytes.4, bytes.5].reduce(Int64(0)) { $0 << 8 | Int64($1) }
        // The four bits between are the version of the UUID.
        self.bits = high << 12 | Int64(bytes.6 & 0x0f) << 8 | Int64(bytes.7)
    }
}
