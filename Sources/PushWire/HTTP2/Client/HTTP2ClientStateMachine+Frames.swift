package import NIOCore

/// Frames of the connection: SETTINGS, PING and GOAWAY.
extension HTTP2ClientStateMachine: HTTP2Endpoint {
    /// Takes bytes from the server, in any portions.
    package mutating func receive(_ bytes: ByteBuffer, now: NIODeadline) {
        guard self.phase != .finished else { return }
        self.timers.lastReceived = now
        self.timers.pingSent = nil
        var input = self.reader.append(bytes)
        do {
            let used = try self.receiveFrames(input.readableBytesUInt8Span, now: now)
            guard self.phase != .finished else { return }
            input.moveReaderIndex(forwardBy: used)
            self.reader.keep(&input)
        } catch {
            self.finish(.violation(error.code, error.description))
        }
    }

    mutating func receive(
        _ frame: HTTP2Frame,
        _ bytes: borrowing Span<UInt8>,
        now: NIODeadline
    ) throws(HTTP2ConnectionError) {
        switch frame.payload {
        case .headers(let block):
            try self.checkOpened(frame.streamID)
            if let block { try self.receiveBlock(block, bytes) }
        case .continuation(let block):
            try self.floodLimiter.spend()
            if let block { try self.receiveBlock(block, bytes) }
        case .data(let range): try self.receiveData(frame, bytes.extracting(range))
        case .resetStream(let code): try self.receiveReset(frame.streamID, code)
        case .settings(let range): try self.receiveSettings(bytes.extracting(range))
        case .windowUpdate(let increment): try self.receiveWindowUpdate(increment, streamID: frame.streamID)
        case .ping(let data):
            try self.floodLimiter.spend()
            self.output.writePing(data, flags: .acknowledgement)
        case .goAway(let last, let code, let debugData):
            try self.floodLimiter.spend()
            let end = min(debugData.upperBound, debugData.lowerBound + GoAway.maximumDebugData)
            let text = bytes.extracting(debugData.lowerBound..<end)
                .withUnsafeBufferPointer { String(decoding: $0, as: UTF8.self) }
            self.receiveGoAway(GoAway(lastStreamID: last, code: code, debugData: text), now: now)
        case .pushPromise: throw HTTP2ConnectionError(.protocolError, "PUSH_PROMISE in spite of ENABLE_PUSH 0")
        case .settingsAcknowledgement, .pingAcknowledgement, .priority, .unknown: try self.floodLimiter.spend()
        }
    }

    /// Applies the server's settings (RFC 9113 section 6.5).
    private mutating func receiveSettings(_ content: borrowing Span<UInt8>) throws(HTTP2ConnectionError) {
        try self.floodLimiter.spend()
        guard content.count / 6 <= HTTP2ClientLimits.maximumSettings else {
            throw HTTP2ConnectionError(.enhanceYourCalm, "too many settings")
        }
        try self.applySettings(content)
        if self.phase == .waitingForSettings { self.becomeOpen() }
        self.sendBlocked()
    }

    mutating func setTableSize(_ size: Int) { self.encoder.setTableSize(size) }

    /// Charges the flood limiter in proportion to the open streams.
    mutating func changeWindows(by difference: Int) throws(HTTP2ConnectionError) {
        guard difference != 0 else { return }
        try self.floodLimiter.spend(self.streams.count / HTTP2ClientLimits.streamsPerIdleFrame)
        for position in 0..<self.streams.count where !self.streams[position].sendWindow.change(by: difference) {
            throw HTTP2ConnectionError(.flowControlError, "stream window over 2^31-1")
        }
    }

    /// Ends the requests that the server did not process, and drains (RFC 9113 section 6.8).
    private mutating func receiveGoAway(_ goAway: GoAway, now: NIODeadline) {
        for stream in self.streams.table.sorted(where: { $0.id > goAway.lastStreamID }) {
            let response = self.streams.remove(stream.id)?.response
            if response == nil {
                self.add(.notProcessed(ticket: stream.ticket, .goAway(goAway)))
            } else {
                self.end(stream, response, .goAway(goAway))
            }
        }
        self.beginDraining(goAway, now: now)
    }
}
