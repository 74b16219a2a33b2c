/// The header of an HTTP/2 frame, which has nine bytes (RFC 9113 section 4.1).
package struct FrameHeader: Sendable {
    /// The length of a frame header in bytes.
    package static let length = 9
    /// The payload length that both ends must accept, in bytes (RFC 9113 section 4.2). Martlet announces it too.
    package static let defaultMaximumLength = 16_384

    /// The length of the payload in bytes, without this header.
    package var length: Int
    /// The type of the frame as received, which may not be one of ``FrameType``.
    package var type: UInt8
    package var flags: FrameFlags
    package var streamID: UInt32

    var typeName: String { FrameType(rawValue: self.type)?.name ?? "frame of type \(self.type)" }

    package init(length: Int, type: FrameType, flags: FrameFlags = [], streamID: UInt32 = 0) {
        self.length = length
        self.type = type.rawValue
        (self.flags, self.streamID) = (flags, streamID)
    }

    /// Parses the nine bytes at `offset`. Returns `nil` if fewer bytes are available.
    package init?(_ bytes: borrowing Span<UInt8>, at offset: Int) {
        guard bytes.count - offset >= Self.length else { return nil }
        self.length = Int(bytes[offset]) << 16 | Int(bytes[offset + 1]) << 8 | Int(bytes[offset + 2])
        self.type = bytes[offset + 3]
        self.flags = FrameFlags(rawValue: bytes[offset + 4])
        self.streamID = bytes.integer(at: offset + 5) & HTTP2Constants.largestStreamID
    }
}

/// The frame types of RFC 9113 section 6.
package enum FrameType: UInt8, Sendable {
    case data, headers, priority, resetStream, settings, pushPromise, ping, goAway, windowUpdate, continuation

    var name: String {
        switch self {
        case .data: "DATA"
        case .headers: "HEADERS"
        case .priority: "PRIORITY"
        case .resetStream: "RST_STREAM"
        case .settings: "SETTINGS"
        case .pushPromise: "PUSH_PROMISE"
        case .ping: "PING"
        case .goAway: "GOAWAY"
        case .windowUpdate: "WINDOW_UPDATE"
        case .continuation: "CONTINUATION"
        }
    }
}

/// The frame flags of RFC 9113 section 6. Their meaning depends on the frame type.
package struct FrameFlags: OptionSet, Sendable {
    package let rawValue: UInt8

    package init(rawValue: UInt8) { self.rawValue = rawValue }

    package static var endStream: Self { Self(rawValue: 0x1) }
    package static var acknowledgement: Self { Self(rawValue: 0x1) }
    package static var endHeaders: Self { Self(rawValue: 0x4) }
    package static var padded: Self { Self(rawValue: 0x8) }
    package static var priority: Self { Self(rawValue: 0x20) }
}

/// The settings of RFC 9113 section 6.5.2.
package enum HTTP2Setting: UInt16, Sendable {
    case headerTableSize = 1
    case enablePush, maximumConcurrentStreams, initialWindowSize, maximumFrameSize, maximumHeaderListSize
}

extension Span<UInt8> {
    /// Returns the four bytes at `offset` as a big-endian integer. The caller must check that they exist.
    package func integer(at offset: Int) -> UInt32 {
        UInt32(self[offset]) << 24 | UInt32(self[offset + 1]) << 16 | UInt32(self[offset + 2]) << 8
            | UInt32(self[offset + 3])
    }
}

/// The constants that both ends of an HTTP/2 connection use.
package enum HTTP2Constants {
    /// The first bytes that each client sends (RFC 9113 section 3.4).
    package static let preface = "PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n"
    package static let largestStreamID: UInt32 = 0x7fff_ffff
    /// The maximum size of a flow-control window, in bytes (RFC 9113 section 6.9.1).
    package static let largestWindow = 0x7fff_ffff
    /// The initial size of a flow-control window, in bytes (RFC 9113 section 6.9.2).
    package static let defaultWindow = 65_535
    /// The size of a connection's receive window, in bytes. The window is replenished once half of it is used up.
    package static let connectionReceiveWindow = 1 << 20
    /// The maximum total length of a header block in all its frames, in bytes. A longer one ends the connection.
    package static let maximumHeaderBlock = 32_768
    /// The size of the dynamic table in bytes, which is the initial value of RFC 9113 section 6.5.2.
    package static let headerTableSize = 4096
}
