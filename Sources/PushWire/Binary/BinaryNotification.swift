package import NIOCore
package import PushTypes

/// One notification as the legacy interface carries it; its topic is that of the connection's certificate
/// (reference 5).
package struct BinaryNotification: Hashable, Sendable {
    package var token: [UInt8]
    /// The JSON text.
    package var payload: ByteBuffer
    /// What an error packet names; 0 names none.
    package var identifier: UInt32
    /// UNIX seconds; 0 means do not store, `nil` that the field was left out.
    package var expiration: UInt32?
    /// ``Priority/immediate`` or ``Priority/powerAware``; `nil` where the field was left out, which means immediate.
    package var priority: Priority?

    package init(
        token: [UInt8],
        payload: ByteBuffer,
        identifier: UInt32 = 0,
        expiration: UInt32? = nil,
        priority: Priority? = nil
    ) {
        self.token = token
        self.payload = payload
        self.identifier = identifier
        self.expiration = expiration
        self.priority = priority
    }

    /// What the legacy interface can say of `notification`: collapse id, push type and topic stay behind.
    ///
    /// An expiration beyond 2106 is the last second that fits; priority 1, unknown here, becomes 5.
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

/// The three forms of a notification on the wire (reference 5.1).
package enum BinaryCommand: UInt8, CaseIterable, Hashable, Sendable {
    /// Without identifier and expiry: the form of 2009.
    case simple = 0
    /// With both.
    case enhanced = 1
    /// Items in any order.
    case framed = 2

    /// Largest payload, in bytes.
    package var maximumPayloadLength: Int {
        switch self {
        case .simple, .enhanced: 256
        case .framed: 2048
        }
    }
}
