/// The reason for the end of a stream or a connection (RFC 9113 section 7).
package enum HTTP2ErrorCode: UInt32, CaseIterable, Sendable {
    case noError, protocolError, internalError, flowControlError, settingsTimeout, streamClosed, frameSizeError
    case refusedStream, cancel, compressionError, connectError, enhanceYourCalm, inadequateSecurity, http11Required

    package var name: String {
        switch self {
        case .noError: "NO_ERROR"
        case .protocolError: "PROTOCOL_ERROR"
        case .internalError: "INTERNAL_ERROR"
        case .flowControlError: "FLOW_CONTROL_ERROR"
        case .settingsTimeout: "SETTINGS_TIMEOUT"
        case .streamClosed: "STREAM_CLOSED"
        case .frameSizeError: "FRAME_SIZE_ERROR"
        case .refusedStream: "REFUSED_STREAM"
        case .cancel: "CANCEL"
        case .compressionError: "COMPRESSION_ERROR"
        case .connectError: "CONNECT_ERROR"
        case .enhanceYourCalm: "ENHANCE_YOUR_CALM"
        case .inadequateSecurity: "INADEQUATE_SECURITY"
        case .http11Required: "HTTP_1_1_REQUIRED"
        }
    }

    /// Returns the name of an error code, or a description with the number of a code that RFC 9113 does not define.
    package static func text(of code: UInt32) -> String { Self(rawValue: code)?.name ?? "error code \(code)" }
}

/// A violation by the peer that requires closing the whole connection (RFC 9113 section 5.4.1).
package struct HTTP2ConnectionError: Error {
    package var code: HTTP2ErrorCode
    package var description: String

    package init(_ code: HTTP2ErrorCode, _ description: String) { (self.code, self.description) = (code, description) }
}
