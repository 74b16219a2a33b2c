import NIOCore

/// The state machine of one end of a connection. An extension handles the frames that both ends have in common.
protocol HTTP2Endpoint: ~Copyable {
    var reader: HTTP2FrameReader { get set }
    var output: ByteBuffer { get set }
    var peer: HTTP2PeerSettings { get set }
    var hasFinished: Bool { get }

    mutating func receive(
        _ frame: HTTP2Frame,
        _ bytes: borrowing Span<UInt8>,
        now: NIODeadline
    ) throws(HTTP2ConnectionError)

    mutating func setTableSize(_ size: Int)

    /// Changes the send windows of all open streams by a number of bytes (RFC 9113 section 6.9.2).
    /// - Throws: ``HTTP2ConnectionError`` if a window becomes too large.
    mutating func changeWindows(by difference: Int) throws(HTTP2ConnectionError)
}

extension HTTP2Endpoint where Self: ~Copyable {
    /// Processes the complete frames at the start of `bytes`, and returns the number of processed bytes.
    mutating func receiveFrames(_ bytes: borrowing Span<UInt8>, now: NIODeadline) throws(HTTP2ConnectionError) -> Int {
        var offset = 0
        while !self.hasFinished, let frame = try self.reader.next(bytes, at: &offset) {
            try self.receive(frame, bytes, now: now)
        }
        return offset
    }

    /// Applies the payload of a SETTINGS frame, and acknowledges the frame (RFC 9113 section 6.5.3).
    /// - Throws: ``HTTP2ConnectionError`` for an invalid setting.
    mutating func applySettings(_ content: borrowing Span<UInt8>) throws(HTTP2ConnectionError) {
        for offset in stride(from: 0, to: content.count, by: 6) {
            switch try self.peer.apply(content, at: offset) {
            case .headerTableSize(let size): self.setTableSize(size)
            case .initialWindow(let difference): try self.changeWindows(by: difference)
            case .none: break
            }
        }
        self.output.writeSettingsAcknowledgement()
    }
}
