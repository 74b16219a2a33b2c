import NIOCore

/// The state machine of one end of a connection. The protocol's extension handles the frames that mean the same at both
/// ends.
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

    /// Changes the size of the dynamic table for the header blocks of this end.
    mutating func setTableSize(_ size: Int)

    /// Changes the send windows of all open streams (RFC 9113 section 6.9.2).
    mutating func changeWindows(by difference: Int) throws(HTTP2ConnectionError)
}

extension HTTP2Endpoint where Self: ~Copyable {
    /// Processes the complete frames at the start of `bytes`, and returns their length in bytes.
    mutating func receiveFrames(_ bytes: borrowing Span<UInt8>, now: NIODeadline) throws(HTTP2ConnectionError) -> Int {
        var offset = 0
        while !self.hasFinished, let frame = try self.reader.next(bytes, at: &offset) {
            try self.receive(frame, bytes, now: now)
        }
        return offset
    }

    /// Applies and acknowledges the content of a SETTINGS frame (RFC 9113 section 6.5.3).
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

/// The peer's settings (RFC 9113 section 6.5.2), as far as they concern an end that sends pushes or responds to them.
struct HTTP2PeerSettings: Sendable {
    /// The kind of peer that sends the settings.
    enum Peer: Sendable { case client, server }

    /// The consequence of a setting besides the new value.
    enum Change {
        case none
        /// The peer's dynamic table has this size in bytes.
        case headerTableSize(Int)
        /// The send windows of all streams change by this number of bytes.
        case initialWindow(difference: Int)
    }

    private let peer: Peer
    /// The maximum number of concurrent streams. There is no limit unless the peer announces it.
    private(set) var maximumStreams = Int.max
    private(set) var initialWindow = HTTP2SendWindow()
    /// The maximum content length of a frame, in bytes.
    private(set) var maximumFrameLength = FrameHeader.defaultMaximumLength
    /// The maximum size of a header list, in bytes (RFC 9113 section 6.5.2). There is no limit unless the peer
    /// announces it.
    private(set) var maximumHeaderListSize = Int.max

    init(of peer: Peer) { self.peer = peer }

    /// Applies the setting at `offset` of a SETTINGS frame's content, whose length the frame reader has checked.
    mutating func apply(_ content: borrowing Span<UInt8>, at offset: Int) throws(HTTP2ConnectionError) -> Change {
        let number = UInt16(content[offset]) << 8 | UInt16(content[offset + 1])
        let value = content.integer(at: offset + 2)
        switch HTTP2Setting(rawValue: number) {
        case .headerTableSize: return .headerTableSize(Int(value))
        case .enablePush:
            // RFC 9113 section 6.5.2: a server must not set it to 1.
            guard value <= (self.peer == .client ? 1 : 0) else {
                throw HTTP2ConnectionError(.protocolError, "ENABLE_PUSH of \(value)")
            }
        case .maximumConcurrentStreams: self.maximumStreams = Int(value)
        case .initialWindowSize:
            guard value <= HTTP2Constants.largestWindow else {
                throw HTTP2ConnectionError(.flowControlError, "INITIAL_WINDOW_SIZE over 2^31-1")
            }
            let difference = Int(value) - self.initialWindow.size
            _ = self.initialWindow.change(by: difference)
            return .initialWindow(difference: difference)
        case .maximumFrameSize:
            guard (FrameHeader.defaultMaximumLength...0xff_ffff).contains(Int(value)) else {
                throw HTTP2ConnectionError(.protocolError, "MAX_FRAME_SIZE out of range")
            }
            self.maximumFrameLength = Int(value)
        case .maximumHeaderListSize: self.maximumHeaderListSize = Int(value)
        case nil: break
        }
        return .none
    }
}

/// Bounds the frames of a peer that advance no request, such as PING or empty DATA frames.
struct HTTP2FloodLimiter: Sendable {
    /// The maximum number of idle frames in a row.
    static let maximum = 10_000
    /// The number of idle frames that a completed request earns, as does each check of the deadlines.
    static let earned = 64

    private var remaining = Self.maximum

    /// Counts a frame that advances no request as `cost` idle frames.
    mutating func spend(_ cost: Int = 1) throws(HTTP2ConnectionError) {
        self.remaining -= cost
        guard self.remaining >= 0 else { throw HTTP2ConnectionError(.enhanceYourCalm, "too many idle frames") }
    }

    mutating func earn() { self.remaining = min(Self.maximum, self.remaining + Self.earned) }
}
