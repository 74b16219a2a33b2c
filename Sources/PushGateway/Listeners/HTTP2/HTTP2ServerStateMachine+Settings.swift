import NIOCore
import PushWire

/// The settings of both ends (RFC 9113 section 6.5).
extension HTTP2ServerStateMachine {
    /// Writes a new stream limit, up or down. It holds once the client has confirmed it; until then the largest of those
    /// on their way does.
    mutating func announce(streamLimit: Int, now: NIODeadline) {
        guard self.phase != .finished else { return }
        let streams = Self.clamp(streamLimit)
        if self.announced.count >= HTTP2ServerLimits.maximumUnacknowledged { return self.nextLimit = streams }
        guard streams != self.announced.last?.streams ?? self.confirmedLimit else { return }
        self.output.writeSettings([(.maximumConcurrentStreams, UInt32(streams))])
        self.announced.append(
            AnnouncedLimit(streams: streams, deadline: now + self.limits.settingsAcknowledgement)
        )
        self.streamLimit = max(self.streamLimit, streams)
    }

    mutating func receiveSettings(
        _ head: FrameHeader,
        _ content: borrowing Span<UInt8>,
        now: NIODeadline
    ) throws(HTTP2ConnectionError) {
        guard head.streamID == 0 else { throw HTTP2ConnectionError(.protocolError, "SETTINGS on a stream") }
        try self.spend()
        if head.flags.contains(.acknowledgement) {
            guard content.count == 0 else { throw HTTP2ConnectionError(.frameSizeError, "SETTINGS acknowledgement") }
            return self.confirmLimit(now: now)
        }
        guard content.count % 6 == 0 else { throw HTTP2ConnectionError(.frameSizeError, "SETTINGS") }
        guard content.count / 6 <= HTTP2ServerLimits.maximumSettings else {
            throw HTTP2ConnectionError(.enhanceYourCalm, "too many settings")
        }
        for offset in stride(from: 0, to: content.count, by: 6) {
            let number = UInt16(content[offset]) << 8 | UInt16(content[offset + 1])
            try self.apply(number, content.integer(at: offset + 2))
        }
        self.output.write(FrameHeader(length: 0, type: .settings, flags: .acknowledgement))
        if self.phase == .waitingForSettings { self.phase = .open }
        self.sendBodies()
    }

    private mutating func confirmLimit(now: NIODeadline) {
        guard !self.announced.isEmpty else { return }
        self.confirmedLimit = self.announced.removeFirst().streams
        self.streamLimit = self.announced.reduce(self.confirmedLimit) { max($0, $1.streams) }
        if let next = self.nextLimit.take() { self.announce(streamLimit: next, now: now) }
    }

    private mutating func apply(_ number: UInt16, _ value: UInt32) throws(HTTP2ConnectionError) {
        switch HTTP2Setting(rawValue: number) {
        case .headerTableSize: self.encoder.peerTableSize(Int(value))
        case .enablePush:
            guard value <= 1 else { throw HTTP2ConnectionError(.protocolError, "ENABLE_PUSH is neither 0 nor 1") }
        case .initialWindowSize: try self.setInitialWindow(Int(value))
        case .maximumFrameSize:
            guard (FrameHeader.defaultMaximumLength...0xff_ffff).contains(Int(value)) else {
                throw HTTP2ConnectionError(.protocolError, "MAX_FRAME_SIZE out of range")
            }
            self.peerMaximumFrame = Int(value)
        case .maximumConcurrentStreams, .maximumHeaderListSize, nil: break
        }
    }

    /// Moves the windows of open streams too (RFC 9113 section 6.9.2).
    private mutating func setInitialWindow(_ size: Int) throws(HTTP2ConnectionError) {
        guard size <= HTTP2Constants.largestWindow else {
            throw HTTP2ConnectionError(.flowControlError, "INITIAL_WINDOW_SIZE over 2^31-1")
        }
        let change = size - self.peerInitialWindow
        self.peerInitialWindow = size
        guard change != 0 else { return }
        try self.spend(self.streams.count / HTTP2ServerLimits.streamsPerIdleFrame)
        self.streamsVisited += self.streams.count
        for position in 0..<self.streams.count {
            self.streams[position].sendWindow += change
            guard self.streams[position].sendWindow <= HTTP2Constants.largestWindow else {
                throw HTTP2ConnectionError(.flowControlError, "stream window over 2^31-1")
            }
            self.noteReady(at: position)
        }
    }
}
