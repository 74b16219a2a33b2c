import NIOCore
package import PushTypes

/// Command 7, *Connect*: a device identifies itself (device link reference 3). Holds only the fields that the server
/// uses.
package struct DeviceLinkConnectRequest: Hashable, Sendable {
    /// The base token from an earlier connection; `nil` on the first one.
    package var baseToken: [UInt8]?
    package var state: DeviceLinkState
    /// The device certificate in DER.
    package var certificate: [UInt8]?
    package var nonce: [UInt8]?
    /// Two bytes that name the scheme, then the signature (see ``DeviceLinkSignature``).
    package var signature: [UInt8]?
    /// Indicates whether the device understands the extension fields of ``DeviceLinkMessage``: field 128, Martlet's own
    /// (device link reference 6).
    package var understandsExtensions: Bool

    package init(
        baseToken: [UInt8]? = nil,
        state: DeviceLinkState = .active,
        certificate: [UInt8]? = nil,
        nonce: [UInt8]? = nil,
        signature: [UInt8]? = nil,
        understandsExtensions: Bool = false
    ) {
        (self.baseToken, self.state, self.understandsExtensions) = (baseToken, state, understandsExtensions)
        (self.certificate, self.nonce, self.signature) = (certificate, nonce, signature)
    }

    package init(_ packet: DeviceLinkPacket) {
        self.baseToken = packet.bytes(1).flatMap { $0.isEmpty ? nil : $0 }
        self.state = packet.integer(2, as: UInt8.self).flatMap(DeviceLinkState.init(rawValue:)) ?? .active
        self.certificate = packet.bytes(12)
        self.nonce = packet.bytes(13)
        self.signature = packet.bytes(14)
        self.understandsExtensions = packet.value(128) != nil
    }

    package var packet: DeviceLinkPacket {
        DeviceLinkPacket(
            .connect,
            [
                .bytes(1, self.baseToken), .integer(2, self.state.rawValue), .integer(5, UInt32(65)),
                .bytes(12, self.certificate), .bytes(13, self.nonce), .bytes(14, self.signature),
                .integer(16, UInt16(11)), self.understandsExtensions ? .integer(128, UInt8(1)) : nil,
            ]
        )
    }
}

/// The state of a device in commands 7 and 20: in use or not.
package enum DeviceLinkState: UInt8, Hashable, Sendable {
    case active = 1
    case inactive = 2
}

/// Command 8, *Connect response* (device link reference 3).
package struct DeviceLinkConnectResponse: Hashable, Sendable {
    package enum Status: UInt8, Hashable, Sendable {
        case ok = 0
        /// The server rejects the device and closes the connection.
        case rejected = 2
    }

    /// The longest base token that a device keeps, in bytes: it is a part of each later *Connect*.
    package static let maximumBaseToken = 256

    package var status: Status
    /// The device's base token; present when it is new or has changed.
    package var baseToken: [UInt8]?
    /// The size of the largest message, in bytes.
    package var maximumMessageSize: UInt16
    package var largeMessageSize: UInt16
    package var serverTime: Timestamp

    package init(
        status: Status,
        baseToken: [UInt8]? = nil,
        maximumMessageSize: UInt16 = 4096,
        largeMessageSize: UInt16 = 5120,
        serverTime: Timestamp
    ) {
        (self.status, self.baseToken, self.serverTime) = (status, baseToken, serverTime)
        (self.maximumMessageSize, self.largeMessageSize) = (maximumMessageSize, largeMessageSize)
    }

    /// Returns `nil` without a status. An unknown status counts as rejected.
    package init?(_ packet: DeviceLinkPacket) {
        guard let status = packet.integer(1, as: UInt8.self) else { return nil }
        self.status = Status(rawValue: status) ?? .rejected
        self.baseToken = packet.bytes(3)
        self.maximumMessageSize = packet.integer(4) ?? 4096
        self.largeMessageSize = packet.integer(8) ?? 4096
        self.serverTime = Timestamp(milliseconds: Int64(clamping: packet.integer(10, as: UInt64.self) ?? 0))
    }

    /// The packet, which always has fields 1, 4, 5, 6 and 10: an independent client requires them.
    package var packet: DeviceLinkPacket {
        DeviceLinkPacket(
            .connectResponse,
            [
                .integer(1, self.status.rawValue), .bytes(3, self.baseToken), .integer(4, self.maximumMessageSize),
                .integer(5, UInt16(2)), .bytes(6, [UInt8]()), .integer(8, self.largeMessageSize),
                .integer(10, UInt64(clamping: self.serverTime.milliseconds)),
            ]
        )
    }
}
