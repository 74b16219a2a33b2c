/// Status byte of the legacy interface's error packet (reference 5.2). Bytes without a name are kept as they came.
package struct BinaryStatus: RawRepresentable, Hashable, Sendable {
    package let rawValue: UInt8

    package init(rawValue: UInt8) {
        self.rawValue = rawValue
    }

    package static let noErrors = Self(rawValue: 0)
    /// On the service's side: the same may be sent again.
    package static let processingError = Self(rawValue: 1)
    package static let missingDeviceToken = Self(rawValue: 2)
    package static let missingTopic = Self(rawValue: 3)
    package static let missingPayload = Self(rawValue: 4)
    package static let invalidTokenSize = Self(rawValue: 5)
    package static let invalidTopicSize = Self(rawValue: 6)
    package static let invalidPayloadSize = Self(rawValue: 7)
    package static let invalidToken = Self(rawValue: 8)
    /// The identifier is that of the last notification that was accepted.
    package static let shutdown = Self(rawValue: 10)
    package static let protocolError = Self(rawValue: 128)
    package static let unknown = Self(rawValue: 255)

    /// Whose fault it is.
    package enum Scope: Hashable, Sendable {
        /// Nobody's: the identified notification was accepted.
        case none
        /// The service's own.
        case service
        /// The certificate's or the connection's: every other notification would meet the same.
        case connection
        /// The identified notification's alone.
        case notification
    }

    package var scope: Scope {
        switch self {
        case .noErrors, .shutdown: .none
        case .processingError: .service
        case .missingTopic, .invalidTopicSize: .connection
        default: .notification
        }
    }

    /// The words of the reference's table; a byte that is not in it reads `status 9`.
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
