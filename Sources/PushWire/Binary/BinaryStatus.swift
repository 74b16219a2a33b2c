/// The status byte of an error packet (reference 5.2). Bytes without a name keep their value.
package struct BinaryStatus: RawRepresentable, Hashable, Sendable {
    package let rawValue: UInt8

    package init(rawValue: UInt8) {
        self.rawValue = rawValue
    }

    package static let noErrors = Self(rawValue: 0)
    /// The server failed: the same notification may be sent again.
    package static let processingError = Self(rawValue: 1)
    package static let missingDeviceToken = Self(rawValue: 2)
    package static let missingTopic = Self(rawValue: 3)
    package static let missingPayload = Self(rawValue: 4)
    package static let invalidTokenSize = Self(rawValue: 5)
    package static let invalidTopicSize = Self(rawValue: 6)
    package static let invalidPayloadSize = Self(rawValue: 7)
    package static let invalidToken = Self(rawValue: 8)
    /// The server shuts down. The packet's identifier is that of the last accepted notification.
    package static let shutdown = Self(rawValue: 10)
    package static let protocolError = Self(rawValue: 128)
    package static let unknown = Self(rawValue: 255)

    /// The part of the exchange that caused a status.
    package enum Scope: Hashable, Sendable {
        /// No error: the identified notification was accepted.
        case none
        /// The server.
        case server
        /// The certificate or the connection: every other notification would be rejected, too.
        case connection
        /// The identified notification alone.
        case notification
    }

    /// The part that caused this status. The client decides by it which notifications to write again.
    package var scope: Scope {
        switch self {
        case .noErrors, .shutdown: .none
        case .processingError: .server
        case .missingTopic, .invalidTopicSize: .connection
        default: .notification
        }
    }

    /// The text of reference 5.2. A byte that is not in the table reads `status 9`.
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
