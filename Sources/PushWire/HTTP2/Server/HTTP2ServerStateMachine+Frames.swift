package import NIOCore

/// Frames of the connection: the preface, SETTINGS, PING, GOAWAY and PRIORITY.
extension HTTP2ServerStateMachine: HTTP2Endpoint {
    private static let preface = Array(HTTP2Constants.preface.utf8)

    /// Takes bytes from the client, in any portions.
    package mutating func receive(_ bytes: ByteBuffer, now: NIODeadline) {
        guard self.phase != .finished else { return }
        self.noteReceived(now)
        var input = self.reader.append(bytes)
        do {
            guard try self.receivePreface(&input) else { return self.reader.keep(&input) }
            let used = try self.receiveFrames(input.readableBytesUInt8Span, now: now)
            guard self.phase != .finished else { return }
            input.moveReaderIndex(forwardBy: used)
            self.noteUnfinished(hasRest: input.readableBytes > 0, hasProgress: used > 0, now: now)
            self.reader.keep(&input)
        } catch {
            self.finish(error.code, error.description)
        }
    }

    /// Returns whether the preface is complete (RFC 9113 section 3.4).
    private mutating func receivePreface(_ input: inout ByteBuffer) throws(HTTP2ConnectionError) -> Bool {
        guard self.phase == .waitingForPreface else { return true }
        let start = input.readableBytesView.prefix(Self.preface.count)
        guard start.elementsEqual(Self.preface.prefix(start.count)) else {
            throw HTTP2ConnectionError(.protocolError, "the client does not speak HTTP/2")
        }
        guard start.count == Self.preface.count else { return false }
        input.moveReaderIndex(forwardBy: Self.preface.count)
        self.phase = .waitingForSettings
        return true
    }

    mutating func receive(
        _ frame: HTTP2Frame,
        _ bytes: borrowing Span<UInt8>,
        now: NIODeadline
    ) throws(HTTP2ConnectionError) {
        switch frame.payload {
        case .headers(let block):
            guard frame.streamID & 1 == 1 else {
                throw HTTP2ConnectionError(.protocolError, "request on an even stream")
            }
            if let block { try self.receiveBlock(block, bytes, now: now) }
        case .continuation(let block):
            try self.floodLimiter.spend()
            if let block { try self.receiveBlock(block, bytes, now: now) }
        case .data(let range): try self.receiveData(frame, bytes.extracting(range), now: now)
        case .resetStream: try self.receiveReset(frame.streamID)
        case .settings(let range): try self.receiveSettings(bytes.extracting(range))
        case .settingsAcknowledgement:
            try self.floodLimiter.spend()
            if let limit = self.streamLimit.acknowledge() { self.announce(streamLimit: limit, now: now) }
        case .windowUpdate(let increment): try self.receiveWindowUpdate(increment, streamID: frame.streamID)
        case .ping(let data):
            try self.floodLimiter.spend()
            self.output.writePing(data, flags: .acknowledgement)
        case .pingAcknowledgement(let data):
            try self.floodLimiter.spend()
            if data == Self.drainPing { self.refuseNewRequests() }
        case .goAway:
            // The client leaves: its requests are responded to, then the connection ends.
            try self.floodLimiter.spend()
            self.shutdown.clientIsLeaving = true
            self.finishIfDrained()
        case .priority(let dependency): try self.receivePriority(frame.streamID, dependency)
        case .pushPromise: throw HTTP2ConnectionError(.protocolError, "PUSH_PROMISE from a client")
        case .unknown: try self.floodLimiter.spend()
        }
    }

    // MARK: PRIORITY

    /// Ignores a priority, like Apple (reference 1.3), unless it is wrong.
    private mutating func receivePriority(
        _ streamID: UInt32,
        _ dependency: UInt32?
    ) throws(HTTP2ConnectionError) {
        guard streamID != 0 else { throw HTTP2ConnectionError(.protocolError, "PRIORITY on stream 0") }
        try self.floodLimiter.spend()
        guard let dependency else { return try self.rejectPriority(of: streamID, .frameSizeError) }
        if dependency == streamID { try self.rejectPriority(of: streamID, .protocolError) }
    }

    /// Resets the stream alone (RFC 7540 sections 5.3.1 and 6.3), also one that is closed. For a stream that was never
    /// opened it is a connection error, as RST_STREAM must not be sent for it (RFC 9113 section 6.4).
    private mutating func rejectPriority(
        of streamID: UInt32,
        _ code: HTTP2ErrorCode
    ) throws(HTTP2ConnectionError) {
        try self.checkOpened(streamID, orElse: code)
        if self.streams.position(of: streamID) != nil { return try self.reset(faulty: streamID, code) }
        try self.floodLimiter.spend(HTTP2ServerLimits.lostStreamCost)
        if let last = self.shutdown.goAwayStreamID, streamID > last { return }
        self.output.writeReset(streamID, code)
    }

    // MARK: SETTINGS

    /// Announces another stream limit, higher or lower.
    package mutating func announce(streamLimit: Int, now: NIODeadline) {
        guard self.phase != .finished else { return }
        let deadline = now + self.limits.settingsAcknowledgement
        guard let streams = self.streamLimit.announce(streamLimit, deadline: deadline) else { return }
        self.output.writeSettings([(.maximumConcurrentStreams, UInt32(streams))])
    }

    /// Applies the client's settings (RFC 9113 section 6.5).
    private mutating func receiveSettings(_ content: borrowing Span<UInt8>) throws(HTTP2ConnectionError) {
        try self.floodLimiter.spend()
        guard content.count / 6 <= HTTP2ServerLimits.maximumSettings else {
            throw HTTP2ConnectionError(.enhanceYourCalm, "too many settings")
        }
        try self.applySettings(content)
        if self.phase == .waitingForSettings { self.phase = .open }
        self.sendBodies()
    }

    mutating func setTableSize(_ size: Int) { self.encoder.setTableSize(size) }

    /// Charges the flood limiter in proportion to the open streams.
    mutating func changeWindows(by difference: Int) throws(HTTP2ConnectionError) {
        guard difference != 0 else { return }
        try self.floodLimiter.spend(self.streams.count / HTTP2ServerLimits.streamsPerIdleFrame)
        self.streamsVisited += self.streams.count
        for position in 0..<self.streams.count {
            guard self.streams[position].sendWindow.change(by: difference) else {
                throw HTTP2ConnectionError(.flowControlError, "stream window over 2^31-1")
            }
            self.enqueue(at: position)
        }
    }
}
