import PushWire

/// The service's settings (RFC 9113 section 6.5).
extension HTTP2ClientStateMachine {
    mutating func receiveSettings(_ head: FrameHeader, _ content: borrowing Span<UInt8>) throws(HTTP2ConnectionError) {
        guard head.streamID == 0 else { throw HTTP2ConnectionError(.protocolError, "SETTINGS on a stream") }
        if head.flags.contains(.acknowledgement) {
            guard content.count == 0 else { throw HTTP2ConnectionError(.frameSizeError, "SETTINGS acknowledgement") }
            guard self.phase != .waitingForSettings else {
                throw HTTP2ConnectionError(.protocolError, "SETTINGS acknowledgement first")
            }
            return try self.spend()
        }
        guard content.count % 6 == 0 else { throw HTTP2ConnectionError(.frameSizeError, "SETTINGS") }
        try self.spend()
        let isFirst = self.phase == .waitingForSettings
        // Without the setting there is no limit of the service's, only ours.
        if isFirst { self.peerMaximumStreams = .max }
        for offset in stride(from: 0, to: content.count, by: 6) {
            let number = UInt16(content[offset]) << 8 | UInt16(content[offset + 1])
            try self.apply(number, content.integer(at: offset + 2))
        }
        self.output.write(FrameHeader(length: 0, type: .settings, flags: .acknowledgement))
        if isFirst {
            self.phase = .open
            self.events.append(.ready)
        }
        self.sendBlocked()
    }

    private mutating func apply(_ number: UInt16, _ value: UInt32) throws(HTTP2ConnectionError) {
        switch HTTP2Setting(rawValue: number) {
        case .headerTableSize:
            let size = min(Int(value), RequestEncoder.maximumTableSize)
            guard size != self.peerHeaderTable else { return }
            self.peerHeaderTable = size
            self.encoder.setTableSize(size)
        case .enablePush:
            guard value == 0 else { throw HTTP2ConnectionError(.protocolError, "ENABLE_PUSH from a server") }
        case .maximumConcurrentStreams: self.peerMaximumStreams = Int(value)
        case .initialWindowSize: try self.setInitialWindow(Int(value))
        case .maximumFrameSize:
            guard (FrameHeader.defaultMaximumLength...0xff_ffff).contains(Int(value)) else {
                throw HTTP2ConnectionError(.protocolError, "MAX_FRAME_SIZE out of range")
            }
            self.peerMaximumFrame = Int(value)
        case .maximumHeaderListSize: self.peerMaximumHeaderList = Int(value)
        case nil: break
        }
    }

    /// Moves the windows of open streams too (RFC 9113 section 6.9.2).
    private mutating func setInitialWindow(_ size: Int) throws(HTTP2ConnectionError) {
        guard size <= HTTP2Constants.largestWindow else {
            throw HTTP2ConnectionError(.flowControlError, "INITIAL_WINDOW_SIZE over 2^31-1")
        }
        let change = size - self.peerInitialWindow
        self.peerInitialWindow = size
        for position in 0..<self.streams.count {
            self.streams[position].sendWindow += change
            guard self.streams[position].sendWindow <= HTTP2Constants.largestWindow else {
                throw HTTP2ConnectionError(.flowControlError, "stream window over 2^31-1")
            }
        }
    }
}
