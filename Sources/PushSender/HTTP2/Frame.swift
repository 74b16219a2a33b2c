import NIOCore

/// The head of every HTTP/2 frame: nine bytes (RFC 9113 section 4.1).
struct FrameHead {
    static let length = 9
    /// What both sides must be able to take; we never announce more.
    static let defaultMaximumLength = 16_384

    /// Of the content, in bytes, without this head.
    var length: Int
    var type: UInt8
    var flags: FrameFlags
    var streamID: UInt32

    init(length: Int, type: FrameType, flags: FrameFlags = [], streamID: UInt32 = 0) {
        self.length = length
        self.type = type.rawValue
        self.flags = flags
        self.streamID = streamID
    }

    /// Reads the nine bytes at `offset`; `nil` when they are not all there.
    init?(_ bytes: borrowing Span<UInt8>, at offset: Int) {
        guard bytes.count - offset >= Self.length else { return nil }
        self.length = Int(bytes[offset]) << 16 | Int(bytes[offset + 1]) << 8 | Int(bytes[offset + 2])
        self.type = bytes[offset + 3]
        self.flags = FrameFlags(rawValue: bytes[offset + 4])
        self.streamID = bytes.integer(at: offset + 5) & 0x7fff_ffff
    }
}

enum FrameType: UInt8 {
    case data, headers, priority, resetStream, settings, pushPromise, ping, goAway, windowUpdate, continuation
}

struct FrameFlags: OptionSet {
    let rawValue: UInt8

    static let endStream = Self(rawValue: 0x1)
    static let acknowledgement = Self(rawValue: 0x1)
    static let endHeaders = Self(rawValue: 0x4)
    static let padded = Self(rawValue: 0x8)
    static let priority = Self(rawValue: 0x20)
}

/// Settings of RFC 9113 section 6.5.2.
enum Setting: UInt16 {
    case headerTableSize = 1
    case enablePush, maximumConcurrentStreams, initialWindowSize, maximumFrameSize, maximumHeaderListSize
}

/// Why a stream or a connection ends (RFC 9113 section 7).
package enum HTTP2ErrorCode: UInt32, CaseIterable, Sendable {
    case noError, protocolError, internalError, flowControlError, settingsTimeout, streamClosed, frameSizeError
    case refusedStream, cancel, compressionError, connectError, enhanceYourCalm, inadequateSecurity, http11Required

    /// As the RFC writes it.
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

    /// The name, or the number of a code that the RFC does not know.
    static func text(of code: UInt32) -> String {
        Self(rawValue: code)?.name ?? "error code \(code)"
    }
}

extension Span<UInt8> {
    /// Four bytes, big-endian. The caller has checked that they are there.
    func integer(at offset: Int) -> UInt32 {
        UInt32(self[offset]) << 24 | UInt32(self[offset + 1]) << 16 | UInt32(self[offset + 2]) << 8
            | UInt32(self[offset + 3])
    }
}

extension ByteBuffer {
    mutating func write(_ head: FrameHead) {
        self.writeMultipleIntegers(
            UInt16(truncatingIfNeeded: head.length >> 8),
            UInt8(truncatingIfNeeded: head.length),
            head.type,
            head.flags.rawValue,
            head.streamID
        )
    }

    /// Fills in the length of a frame that was begun at `index`.
    mutating func setFrameLength(_ length: Int, at index: Int) {
        self.setInteger(UInt8(truncatingIfNeeded: length >> 16), at: index)
        self.setInteger(UInt16(truncatingIfNeeded: length), at: index + 1)
    }

    /// A whole frame whose content is 32-bit numbers.
    mutating func writeFrame(_ type: FrameType, streamID: UInt32 = 0, words: UInt32...) {
        self.write(FrameHead(length: words.count * 4, type: type, streamID: streamID))
        for word in words { self.writeInteger(word) }
    }

    mutating func writeSettings(_ settings: [(Setting, UInt32)]) {
        self.write(FrameHead(length: settings.count * 6, type: .settings))
        for (setting, value) in settings { self.writeMultipleIntegers(setting.rawValue, value) }
    }
}
