package import PushTypes

/// Command 7, *Connect*, by which a device identifies itself (device link reference 3). This type contains only the
/// fields that the server uses.
package struct DeviceLinkConnectRequest: Hashable, Sendable {
    /// The base token, which the server assigned to the device on an earlier connection, or `nil` on the first one.
    package var baseToken: [UInt8]?
    package var state: DeviceLinkState
    /// The device's certificate in DER, or `nil` if the packet contains none.
    package var certificate: [UInt8]?
    package var nonce: [UInt8]?
    /// The two bytes that identify the scheme of the signature, followed by the signature (see
    /// ``DeviceLinkSignature``), or `nil` if the packet contains none.
    package var signature: [UInt8]?
    /// A Boolean value that indicates whether the device understands the extension fields of ``DeviceLinkMessage``. The
    /// device states this in field 128, which Martlet defines (device link reference 6).
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

/// The state of a device in commands 7 and 20, which indicates whether the device is in use.
package enum DeviceLinkState: UInt8, Hashable, Sendable {
    case active = 1
    case inactive = 2
}

/// Command 8, *Connect response* (device link reference 3).
package struct DeviceLinkConnectResponse: Hashable, Sendable {
    package enum Status: UInt8, Hashable, Sendable {
        case ok = 0
        /// The status of a device that the server rejects. The connection is then closed.
        case rejected = 2
    }

    /// The maximum length of a base token that a device stores, in bytes. The token identifies the device in each later
    /// *Connect*.
    package static let maximumBaseToken = 256

    package var status: Status
    /// The base token, by which the server identifies the device, or `nil` if the device already has it.
    package var baseToken: [UInt8]?
    /// The maximum size of a message that the server accepts, in bytes.
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

    /// Parses the packet. Returns `nil` if the status is missing. An unknown status counts as rejected.
    package init?(_ packet: DeviceLinkPacket) {
        guard let status = packet.integer(1, as: UInt8.self) else { return nil }
        self.status = Status(rawValue: status) ?? .rejected
        self.baseToken = packet.bytes(3)
        self.maximumMessageSize = packet.integer(4) ?? 4096
        self.largeMessageSize = packet.integer(8) ?? 4096
        self.serverTime = Timestamp(milliseconds: Int64(clamping: packet.integer(10, as: UInt64.self) ?? 0))
    }

    /// The encoding as a packet. It always has fields 1, 4, 5, 6 and 10, because an independent client requires them.
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

/// The proof in *Connect* that the device has the private key of its certificate. It consists of two bytes that
/// identify the scheme, and a signature of the nonce (device link reference 4).
package enum DeviceLinkSignature {
    /// The scheme `01 01`: RSA PKCS#1 v1.5 with SHA-1.
    package static let rsaSHA1: [UInt8] = [1, 1]
    /// The scheme `02 01`, which Martlet defines: ECDSA P-256 with SHA-256, in DER (device link reference 6).
    package static let ecdsaP256SHA256: [UInt8] = [2, 1]
}

/// The nonce that *Connect* signs. It consists of the byte `00`, the milliseconds since 1970 in 8 bytes, and 8 random
/// bytes (device link reference 4).
package struct DeviceLinkNonce: Hashable, Sendable {
    package static let length = 17

    package let bytes: [UInt8]

    package init(time: Timestamp, random: UInt64) {
        let milliseconds = UInt64(clamping: time.milliseconds)
        self.bytes = [0] + Self.bigEndian(milliseconds) + Self.bigEndian(random)
    }

    /// Creates a nonce from its bytes. Returns `nil` unless there are 17 bytes and the first one is 0.
    package init?(bytes: [UInt8]) {
        guard bytes.count == Self.length, bytes.first == 0 else { return nil }
        self.bytes = bytes
    }

    /// The time at which the device created the nonce.
    package var time: Timestamp {
        let milliseconds = self.bytes[1...8].reduce(UInt64(0)) { $0 << 8 | UInt64($1) }
        return Timestamp(milliseconds: Int64(clamping: milliseconds))
    }

    private static func bigEndian(_ value: UInt64) -> [UInt8] { withUnsafeBytes(of: value.bigEndian, Array.init) }
}
