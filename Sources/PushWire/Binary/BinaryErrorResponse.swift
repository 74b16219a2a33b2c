package import NIOCore

/// The error packet of 6 bytes, which is the only response of the legacy protocol. The server closes the connection
/// after sending it (APNs reference 5.1).
package struct BinaryErrorResponse: Error, Hashable, Sendable {
    /// The first byte of each error packet, which is its command.
    package static let command: UInt8 = 8

    package var status: BinaryStatus
    /// The identifier of the notification at fault, or 0 if the server does not know it.
    package var identifier: UInt32

    package init(status: BinaryStatus, identifier: UInt32 = 0) { (self.status, self.identifier) = (status, identifier) }

    /// The error for bytes from the server that are not an error packet.
    package struct Malformed: Error, Hashable, Sendable {
        package let command: UInt8

        package init(command: UInt8) { self.command = command }
    }

    /// Consumes one packet from the front of `buffer`. Returns `nil` while it is incomplete.
    /// - Throws: ``Malformed`` if the buffer begins with another command.
    package static func read(from buffer: inout ByteBuffer) throws(Malformed) -> BinaryErrorResponse? {
        guard let command = buffer.getInteger(at: buffer.readerIndex, as: UInt8.self) else { return nil }
        guard command == Self.command else { throw Malformed(command: command) }
        guard let (_, status, identifier) = buffer.readMultipleIntegers(as: (UInt8, UInt8, UInt32).self) else {
            return nil
        }
        return BinaryErrorResponse(status: BinaryStatus(rawValue: status), identifier: identifier)
    }

    package var encoded: ByteBuffer {
        var buffer = ByteBuffer()
        buffer.writeMultipleIntegers(Self.command, self.status.rawValue, self.identifier)
        return buffer
    }
}

/// The status in an error packet (APNs reference 5.2). A byte without a name in this type keeps its value.
package struct BinaryStatus: RawRepresentable, Hashable, Sendable {
    package let rawValue: UInt8

    package init(rawValue: UInt8) { self.rawValue = rawValue }

    package static let noErrors = Self(rawValue: 0)
    /// The status for a failure of the server. The same notification may be sent again.
    package static let processingError = Self(rawValue: 1)
    package static let missingDeviceToken = Self(rawValue: 2)
    package static let missingTopic = Self(rawValue: 3)
    package static let missingPayload = Self(rawValue: 4)
    package static let invalidTokenSize = Self(rawValue: 5)
    package static let invalidTopicSize = Self(rawValue: 6)
    package static let invalidPayloadSize = Self(rawValue: 7)
    package static let invalidToken = Self(rawValue: 8)
    /// The status for a shutdown of the server. The identifier in the packet is that of the last accepted notification.
    package static let shutdown = Self(rawValue: 10)
    package static let protocolError = Self(rawValue: 128)
    package static let unknown = Self(rawValue: 255)

    /// The scope of the fault that a status reports: what would fail again.
    package enum Scope: Hashable, Sendable {
        /// The scope of a status without an error: the identified notification was accepted.
        case none
        /// The scope of a failure of the server: the identified notification may be sent again.
        case server
        /// The scope of a fault of the certificate or the connection: any other notification would be rejected too.
        case connection
        /// The scope of a fault of the identified notification only: the client writes the later ones again.
        case notification
    }

    /// The scope of the fault that the status reports. It determines which notifications the client writes again.
    package var scope: Scope {
        switch self {
        case .noErrors, .shutdown: .none
        case .processingError: .server
        case .missingTopic, .invalidTopicSize: .connection
        default: .notification
        }
    }

    /// The description of the status in APNs reference 5.2, or a text such as `status 9` if there is none.
    package var text: String {
        switch self {
        case .noErrors: "no errors"
        case .processingError: "processing error"
        case .missingDeviceToken: "missing device token"
        case .missingTopic: "missing topic"
        case .missingPayload: "missing payload"
        case .invalidTokenSize: "invalid token size"
        case .invalidTopicSize: "invalid topic size"
        case .invalidPayloadSize: "invalid payload size"
        case .invalidToken: "invalid token"
        case .shutdown: "shutdown"
        case .protocolError: "protocol error"
        case .unknown: "unknown"
        default: "status \(self.rawValue)"
        }
    }
}

extension BinaryStatus: CustomStringConvertible {
    package var description: String { self.text }
}
