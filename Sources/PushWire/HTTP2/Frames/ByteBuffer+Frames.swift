package import NIOCore

/// The writing of HTTP/2 frames (RFC 9113 section 6).
extension ByteBuffer {
    package mutating func write(_ header: FrameHeader) {
        self.writeMultipleIntegers(
            UInt16(truncatingIfNeeded: header.length >> 8),
            UInt8(truncatingIfNeeded: header.length),
            header.type,
            header.flags.rawValue,
            header.streamID
        )
    }

    /// Writes a complete frame whose payload consists of 32-bit integers.
    package mutating func writeFrame(_ type: FrameType, streamID: UInt32 = 0, words: UInt32...) {
        self.write(FrameHeader(length: words.count * 4, type: type, streamID: streamID))
        for word in words { self.writeInteger(word) }
    }

    package mutating func writeSettings(_ settings: [(HTTP2Setting, UInt32)]) {
        self.write(FrameHeader(length: settings.count * 6, type: .settings))
        for (setting, value) in settings { self.writeMultipleIntegers(setting.rawValue, value) }
    }

    package mutating func writeSettingsAcknowledgement() {
        self.write(FrameHeader(length: 0, type: .settings, flags: .acknowledgement))
    }

    package mutating func writePing(_ data: UInt64, flags: FrameFlags = []) {
        self.write(FrameHeader(length: 8, type: .ping, flags: flags))
        self.writeInteger(data)
    }

    package mutating func writeReset(_ streamID: UInt32, _ code: HTTP2ErrorCode) {
        self.writeFrame(.resetStream, streamID: streamID, words: code.rawValue)
    }

    package mutating func writeGoAway(lastStreamID: UInt32, _ code: HTTP2ErrorCode, debugData: String) {
        self.write(FrameHeader(length: 8 + debugData.utf8.count, type: .goAway))
        self.writeMultipleIntegers(lastStreamID, code.rawValue)
        self.writeString(debugData)
    }

    /// Writes the WINDOW_UPDATE frame that enlarges the connection's window from the default to
    /// ``HTTP2Constants/connectionReceiveWindow``.
    mutating func writeConnectionWindow() {
        let increment = HTTP2Constants.connectionReceiveWindow - HTTP2Constants.defaultWindow
        self.writeFrame(.windowUpdate, words: UInt32(truncatingIfNeeded: increment))
    }

    /// Begins a HEADERS frame that will contain a complete header block.
    /// - Returns: The index of the frame in the buffer, for ``endFrame(at:)``.
    mutating func beginHeaders(streamID: UInt32, endsStream: Bool) -> Int {
        let start = self.writerIndex
        let flags: FrameFlags = endsStream ? [.endHeaders, .endStream] : .endHeaders
        self.write(FrameHeader(length: 0, type: .headers, flags: flags, streamID: streamID))
        return start
    }

    /// Writes the length of the frame that begins at `index` and extends to the end of the buffer.
    mutating func endFrame(at index: Int) {
        let length = self.writerIndex - index - FrameHeader.length
        self.setInteger(UInt8(truncatingIfNeeded: length >> 16), at: index)
        self.setInteger(UInt16(truncatingIfNeeded: length), at: index + 1)
    }

    /// Writes as much of `body` in DATA frames as the windows of the connection and the stream allow. The frame with
    /// the end of the body also ends the stream. The written bytes are removed from `body`.
    /// - Returns: The number of written frames.
    mutating func writeData(
        _ body: inout ByteBuffer,
        streamID: UInt32,
        connectionWindow: inout HTTP2SendWindow,
        streamWindow: inout HTTP2SendWindow,
        maximumFrameLength: Int
    ) -> Int {
        var frames = 0
        while body.readableBytes > 0 {
            let length = min(connectionWindow.size, streamWindow.size, maximumFrameLength, body.readableBytes)
            guard length > 0, let chunk = body.readSlice(length: length) else { break }
            connectionWindow.consume(length)
            streamWindow.consume(length)
            let flags: FrameFlags = body.readableBytes == 0 ? .endStream : []
            self.write(FrameHeader(length: length, type: .data, flags: flags, streamID: streamID))
            self.writeImmutableBuffer(chunk)
            frames += 1
        }
        return frames
    }
}
