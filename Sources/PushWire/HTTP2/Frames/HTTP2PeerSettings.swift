/// The peer's settings (RFC 9113 section 6.5.2) that affect an end which sends pushes or responds to them.
struct HTTP2PeerSettings: Sendable {
    /// The role of the peer, which sends the settings.
    enum Peer: Sendable { case client, server }

    /// The consequence of a setting for the end that receives it, in addition to the changed value.
    enum Change {
        case none
        /// A consequence: the peer's dynamic table has this maximum size in bytes.
        case headerTableSize(Int)
        /// A consequence: the send window of each stream changes by this number of bytes.
        case initialWindow(difference: Int)
    }

    private let peer: Peer
    /// The maximum number of concurrent streams, which is unlimited unless the peer announces a limit.
    private(set) var maximumStreams = Int.max
    private(set) var initialWindow = HTTP2SendWindow()
    /// The maximum payload length of a frame, in bytes.
    private(set) var maximumFrameLength = FrameHeader.defaultMaximumLength
    /// The maximum size of a header list in bytes (RFC 9113 section 6.5.2), which is unlimited unless the peer
    /// announces a limit.
    private(set) var maximumHeaderListSize = Int.max

    init(of peer: Peer) { self.peer = peer }

    /// Applies the setting at `offset` of a SETTINGS frame's payload, whose length the frame reader has checked, and
    /// returns its consequence.
    /// - Throws: ``HTTP2ConnectionError`` for an invalid value.
    mutating func apply(_ content: borrowing Span<UInt8>, at offset: Int) throws(HTTP2ConnectionError) -> Change {
        let number = UInt16(content[offset]) << 8 | UInt16(content[offset + 1])
        let value = content.integer(at: offset + 2)
        switch HTTP2Setting(rawValue: number) {
        case .headerTableSize: return .headerTableSize(Int(value))
        case .enablePush:
            // A server must not set it to 1 (RFC 9113 section 6.5.2).
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
