public import NIOCore

/// The head of every HTTP/2 frame: nine bytes (RFC 9113 section 4.1).
@usableFromInline
package struct FrameHeader: Sendable {
    @usableFromInline package static let length = 9
    /// What both sides must be able to take; we never announce more.
    package static let defaultMaximumLength = 16_384

    /// Of the content, in bytes, without this head.
    @usableFromInline package var length: Int
    @usableFromInline package var type: UInt8
    @usableFromInline package var flags: FrameFlags
    @usableFromInline package var streamID: UInt32

    @inlinable
    package init(length: Int, type: FrameType, flags: FrameFlags = [], streamID: UInt32 = 0) {
        self.length = length
        self.type = type.rawValue
        self.flags = flags
        self.streamID = streamID
    }

    /// Reads the nine bytes at `offset`; `nil` when they are not all there.
    @inlinable
    package init?(_ bytes: borrowing Span<UInt8>, at offset: Int) {
        guard bytes.count - offset >= Self.length else { return nil }
        self.length = Int(bytes[offset]) << 16 | Int(bytes[offset + 1]) << 8 | Int(bytes[offset + 2])
        self.type = bytes[offset + 3]
        self.flags = FrameFlags(rawValue: bytes[offset + 4])
        self.streamID = bytes.integer(at: offset + 5) & 0x7fff_ffff
    }
}

@usableFromInline
package enum FrameType: UInt8, Sendable {
    case data, headers, priority, resetStream, settings, pushPromise, ping, goAway, windowUpdate, continuation
}

@usableFromInline
package struct FrameFlags: OptionSet, Sendable {
    @usableFromInline package let rawValue: UInt8

    @inlinable
    package init(rawValue: UInt8) {
        self.rawValue = rawValue
    }

    @inlinable package static var endStream: Self { Self(rawValue: 0x1) }
    @inlinable package static var acknowledgement: Self { Self(rawValue: 0x1) }
    @inlinable package static var endHeaders: Self { Self(rawValue: 0x4) }
    @inlinable package static var padded: Self { Self(rawValue: 0x8) }
    @inlinable package static var priority: Self { Self(rawValue: 0x20) }
}

/// Settings of RFC 9113 section 6.5.2.
package enum HTTP2Setting: UInt16, Sendable {
    case headerTableSize = 1
    case enablePush, maximumConcurrentStreams, initialWindowSize, maximumFrameSize, maximumHeaderListSize
}

extension Span<UInt8> {
    /// Four bytes, big-endian. The caller has checked that they are there.
    @inlinable
    package func integer(at offset: Int) -> UInt32 {
        UInt32(self[offset]) << 24 | UInt32(self[offset + 1]) << 16 | UInt32(self[offset + 2]) << 8
            | UInt32(self[offset + 3])
    }
}

extension FrameHeader {
    /// Where the content without padding lies; `nil` for padding longer than the frame (RFC 9113 section 6.1).
    @inlinable
    package func unpadded(_ content: borrowing Span<UInt8>) -> Range<Int>? {
        guard self.flags.contains(.padded) else { return 0..<content.count }
        guard content.count > 0, Int(content[0]) < content.count else { return nil }
        return 1..<content.count - Int(content[0])
    }
}

extension ByteBuffer {
    @inlinable
    package mutating func write(_ head: FrameHeader) {
        self.writeMultipleIntegers(
            UInt16(truncatingIfNeeded: head.length >> 8),
            UInt8(truncatingIfNeeded: head.length),
            head.type,
            head.flags.rawValue,
            head.streamID
        )
    }

    /// Fills in the length of a frame that was begun at `index`.
    @inlinable
    package mutating func setFrameLength(_ length: Int, at index: Int) {
        self.setInteger(UInt8(truncatingIfNeeded: length >> 16), at: index)
        self.setInteger(UInt16(truncatingIfNeeded: length), at: index + 1)
    }

    /// A whole frame whose content is 32-bit numbers.
    package mutating func writeFrame(_ type: FrameType, streamID: UInt32 = 0, words: UInt32...) {
        self.write(FrameHeader(length: words.count * 4, type: type, streamID: streamID))
        for word in words { self.writeInteger(word) }
    }

    package mutating func writeSettings(_ settings: [(HTTP2Setting, UInt32)]) {
        self.write(FrameHeader(length: settings.count * 6, type: .settings))
        for (setting, value) in settings { self.writeMultipleIntegers(setting.rawValue, value) }
    }

    package mutating func writeGoAway(lastStreamID: UInt32, _ code: HTTP2ErrorCode, debugData: String) {
        self.write(FrameHeader(length: 8 + debugData.utf8.count, type: .goAway))
        self.writeMultipleIntegers(lastStreamID, code.rawValue)
        self.writeString(debugData)
    }
}
