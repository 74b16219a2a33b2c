import NIOCore

/// Splits a byte stream into frames (RFC 9113 section 4), for both ends. It buffers the bytes of an incomplete frame,
/// and joins header blocks that arrive in several frames. It performs all checks of a frame that depend neither on
/// streams nor on the end that reads it.
struct HTTP2FrameReader: Sendable {
    private static let keptCapacity = 32_768

    private var rest = ByteBuffer()
    /// A Boolean value that indicates whether the caller is using the buffer of ``rest``, between ``append(_:)`` and
    /// ``keep(_:)``.
    private var usesRest = false
    private var openBlock: HTTP2HeaderBlock?
    /// The received bytes of ``openBlock`` or, if there is none, of the last complete block.
    private var gathered: [UInt8] = []
    private var hasReadSettings = false

    var restLength: Int { self.rest.readableBytes }
    var isInsideHeaderBlock: Bool { self.openBlock != nil }
    /// The memory that incomplete frames and header blocks occupy, in bytes.
    var heldBytes: Int { self.rest.storageCapacity + self.gathered.count }

    /// Begins to read received bytes. Returns the bytes that remained unread before, followed by `bytes`.
    mutating func append(_ bytes: ByteBuffer) -> ByteBuffer {
        self.usesRest = self.rest.readableBytes > 0
        guard self.usesRest else { return bytes }
        self.rest.writeImmutableBuffer(bytes)
        var input = ByteBuffer()
        swap(&input, &self.rest)
        return input
    }

    /// Stores the unread bytes of `input`, which belong to an incomplete frame, after the complete frames were read.
    mutating func keep(_ input: inout ByteBuffer) {
        if self.usesRest {
            swap(&input, &self.rest)
            self.rest.discardReadBytes()
        } else if input.readableBytes > 0 {
            self.rest.writeImmutableBuffer(input)
        }
        if self.rest.readableBytes == 0 {
            if self.rest.capacity > Self.keptCapacity { self.rest = ByteBuffer() }
            self.rest.clear()
        }
    }

    mutating func discard() {
        self.rest = ByteBuffer()
        self.openBlock = nil
        self.gathered = []
    }

    /// Removes and returns the last complete header block that arrived in several frames.
    mutating func takeGatheredBlock() -> [UInt8] {
        var block: [UInt8] = []
        swap(&block, &self.gathered)
        return block
    }

    /// Parses the frame at `offset` and advances `offset` beyond it. Returns `nil` if the frame is incomplete.
    /// - Throws: ``HTTP2ConnectionError`` for a frame that violates the protocol.
    mutating func next(
        _ bytes: borrowing Span<UInt8>,
        at offset: inout Int
    ) throws(HTTP2ConnectionError) -> HTTP2Frame? {
        guard let header = FrameHeader(bytes, at: offset) else { return nil }
        if !self.hasReadSettings { try self.checkFirst(header) }
        guard header.length <= FrameHeader.defaultMaximumLength else {
            throw HTTP2ConnectionError(.frameSizeError, "frame over \(FrameHeader.defaultMaximumLength) bytes")
        }
        let start = offset + FrameHeader.length
        guard bytes.count - start >= header.length else { return nil }
        offset = start + header.length
        let type = FrameType(rawValue: header.type)
        if self.openBlock != nil, type != .continuation {
            throw HTTP2ConnectionError(.protocolError, "frame inside a header block")
        }
        return HTTP2Frame(
            streamID: header.streamID,
            length: header.length,
            endsStream: header.flags.contains(.endStream),
            payload: try self.payload(type, header, bytes, start..<offset)
        )
    }

    private mutating func checkFirst(_ header: FrameHeader) throws(HTTP2ConnectionError) {
        guard header.type == FrameType.settings.rawValue, !header.flags.contains(.acknowledgement) else {
            throw HTTP2ConnectionError(.protocolError, "the peer does not speak HTTP/2: no SETTINGS frame first")
        }
        self.hasReadSettings = true
    }

    private mutating func payload(
        _ type: FrameType?,
        _ header: FrameHeader,
        _ bytes: borrowing Span<UInt8>,
        _ content: Range<Int>
    ) throws(HTTP2ConnectionError) -> HTTP2Frame.Payload {
        let start = content.lowerBound
        switch type {
        case .data: return .data(try Self.unpadded(header, bytes, content))
        case .headers: return .headers(try self.beginBlock(header, bytes, content))
        case .continuation: return .continuation(try self.continueBlock(header, bytes, content))
        case .priority: return .priority(dependency: content.count == 5 ? Self.dependency(bytes, start) : nil)
        case .resetStream:
            try Self.check(header, content.count == 4)
            return .resetStream(code: bytes.integer(at: start))
        case .settings:
            try Self.checkConnection(header)
            let isAcknowledgement = header.flags.contains(.acknowledgement)
            try Self.check(header, isAcknowledgement ? content.isEmpty : content.count % 6 == 0)
            return isAcknowledgement ? .settingsAcknowledgement : .settings(content)
        case .pushPromise: return .pushPromise
        case .ping:
            try Self.checkConnection(header)
            try Self.check(header, content.count == 8)
            let data = UInt64(bytes.integer(at: start)) << 32 | UInt64(bytes.integer(at: start + 4))
            return header.flags.contains(.acknowledgement) ? .pingAcknowledgement(data) : .ping(data)
        case .goAway:
            try Self.checkConnection(header)
            try Self.check(header, content.count >= 8)
            return .goAway(
                lastStreamID: bytes.integer(at: start) & HTTP2Constants.largestStreamID,
                code: bytes.integer(at: start + 4),
                debugData: start + 8..<content.upperBound
            )
        case .windowUpdate:
            try Self.check(header, content.count == 4)
            return .windowUpdate(increment: bytes.integer(at: start) & 0x7fff_ffff)
        case nil: return .unknown
        }
    }

    // MARK: Header blocks

    private mutating func beginBlock(
        _ header: FrameHeader,
        _ bytes: borrowing Span<UInt8>,
        _ content: Range<Int>
    ) throws(HTTP2ConnectionError) -> HTTP2HeaderBlock? {
        var range = try Self.unpadded(header, bytes, content)
        var dependsOnItself = false
        if header.flags.contains(.priority) {
            try Self.check(header, range.count >= 5)
            dependsOnItself = Self.dependency(bytes, range.lowerBound) == header.streamID
            range = range.lowerBound + 5..<range.upperBound
        }
        var block = HTTP2HeaderBlock(
            streamID: header.streamID,
            endsStream: header.flags.contains(.endStream),
            dependsOnItself: dependsOnItself,
            range: range
        )
        if header.flags.contains(.endHeaders) { return block }
        block.range = nil
        self.openBlock = block
        self.gathered = []
        try self.gather(bytes.extracting(range))
        return nil
    }

    private mutating func continueBlock(
        _ header: FrameHeader,
        _ bytes: borrowing Span<UInt8>,
        _ content: Range<Int>
    ) throws(HTTP2ConnectionError) -> HTTP2HeaderBlock? {
        guard let block = self.openBlock, block.streamID == header.streamID else {
            throw HTTP2ConnectionError(.protocolError, "CONTINUATION without HEADERS")
        }
        try self.gather(bytes.extracting(content))
        guard header.flags.contains(.endHeaders) else { return nil }
        self.openBlock = nil
        return block
    }

    private mutating func gather(_ fragment: borrowing Span<UInt8>) throws(HTTP2ConnectionError) {
        guard self.gathered.count + fragment.count <= HTTP2Constants.maximumHeaderBlock else {
            throw HTTP2ConnectionError(.enhanceYourCalm, "header block too long")
        }
        fragment.withUnsafeBufferPointer { self.gathered.append(contentsOf: $0) }
    }

    // MARK: Checks

    private static func check(_ header: FrameHeader, _ hasRightSize: Bool) throws(HTTP2ConnectionError) {
        guard !hasRightSize else { return }
        throw HTTP2ConnectionError(.frameSizeError, "\(header.typeName) with \(header.length) bytes")
    }

    private static func checkConnection(_ header: FrameHeader) throws(HTTP2ConnectionError) {
        guard header.streamID != 0 else { return }
        throw HTTP2ConnectionError(.protocolError, "\(header.typeName) on a stream")
    }

    private static func dependency(_ bytes: borrowing Span<UInt8>, _ offset: Int) -> UInt32 {
        bytes.integer(at: offset) & HTTP2Constants.largestStreamID
    }

    /// Returns the range of a frame's payload without its padding (RFC 9113 section 6.1).
    /// - Throws: ``HTTP2ConnectionError`` if the padding is longer than the frame.
    private static func unpadded(
        _ header: FrameHeader,
        _ bytes: borrowing Span<UInt8>,
        _ content: Range<Int>
    ) throws(HTTP2ConnectionError) -> Range<Int> {
        guard header.flags.contains(.padded) else { return content }
        guard !content.isEmpty, Int(bytes[content.lowerBound]) < content.count else {
            throw HTTP2ConnectionError(.protocolError, "padding longer than the frame")
        }
        return content.lowerBound + 1..<content.upperBound - Int(bytes[content.lowerBound])
    }
}

/// A frame that has passed the checks which both ends of a connection have in common (RFC 9113 sections 4 and 6). It
/// contains no bytes. Its ranges refer to the bytes from which it was read.
struct HTTP2Frame {
    /// The type of a frame, with its payload.
    enum Payload {
        /// The range of a DATA frame's payload, without padding.
        case data(Range<Int>)
        /// A HEADERS frame. The block is `nil` if CONTINUATION frames are still missing.
        case headers(HTTP2HeaderBlock?)
        /// A CONTINUATION frame of the open header block. The block is `nil` if further frames are missing.
        case continuation(HTTP2HeaderBlock?)
        /// The parent stream in a PRIORITY frame, or `nil` for a frame with the wrong size, which is a stream error
        /// (RFC 7540 section 6.3).
        case priority(dependency: UInt32?)
        case resetStream(code: UInt32)
        /// The range of a SETTINGS frame's payload, whose length is a multiple of six bytes.
        case settings(Range<Int>)
        case settingsAcknowledgement
        case pushPromise
        case ping(UInt64)
        case pingAcknowledgement(UInt64)
        case goAway(lastStreamID: UInt32, code: UInt32, debugData: Range<Int>)
        case windowUpdate(increment: UInt32)
        /// A frame of a type that RFC 9113 does not define. The reader's owner ignores it (RFC 9113 section 4.1).
        case unknown
    }

    var streamID: UInt32
    /// The length of the payload in bytes, including padding.
    var length: Int
    var endsStream: Bool
    var payload: Payload
}

/// A complete header block, with the properties of its HEADERS frame.
struct HTTP2HeaderBlock {
    var streamID: UInt32
    var endsStream: Bool
    /// A Boolean value that indicates whether the frame's priority names the stream itself as its parent, which is a
    /// stream error (RFC 7540 section 5.3.1).
    var dependsOnItself: Bool
    /// The range of the block, or `nil` if it arrived in several frames, in which case
    /// ``HTTP2FrameReader/takeGatheredBlock()`` returns it.
    var range: Range<Int>?
}
