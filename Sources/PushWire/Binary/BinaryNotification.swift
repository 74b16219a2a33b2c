package import NIOCore
package import PushTypes

/// A notification as the binary protocol carries it (reference 5). Its topic is that of the connection's certificate.
package struct BinaryNotification: Hashable, Sendable {
    package var token: [UInt8]
    /// The JSON text, as bytes.
    package var payload: ByteBuffer
    /// The number by which an error packet names the notification; 0 names none.
    package var identifier: UInt32
    /// The expiration in UNIX seconds. 0 means *do not store*; `nil` means that the field is absent.
    package var expiration: UInt32?
    /// ``Priority/immediate`` or ``Priority/powerAware``; `nil` if the field is absent, which means immediate.
    package var priority: Priority?

    package init(
        token: [UInt8],
        payload: ByteBuffer,
        identifier: UInt32 = 0,
        expiration: UInt32? = nil,
        priority: Priority? = nil
    ) {
        (self.token, self.payload, self.identifier) = (token, payload, identifier)
        (self.expiration, self.priority) = (expiration, priority)
    }

    /// Converts a notification. Its collapse id, push type and topic have no field in the binary protocol.
    ///
    /// An expiration after 2106 becomes the last second that fits. Priority 1, which the interface lacks, becomes 5.
    package init(_ notification: PushNotification, to token: DeviceToken) {
        self.init(token: token.bytes, payload: notification.payload)
        switch notification.expiration {
        case .servicePolicy: self.expiration = nil
        case .immediate: self.expiration = 0
        case .at(let seconds): self.expiration = UInt32(clamping: seconds)
        }
        self.priority = notification.priority == .immediate ? .immediate : .powerAware
    }
}
