import NIOCore

/// Responses, sent within the flow-control windows (RFC 9113 section 5.2).
extension HTTP2ServerStateMachine {
    /// Sends many responses, in order.
    package mutating func respond(_ responses: [(stream: UInt32, response: ProviderResponse)]) {
        for (stream, response) in responses { self.respond(stream, response) }
    }

    /// Sends the response to a request. It is dropped if the stream no longer expects one.
    package mutating func respond(_ streamID: UInt32, _ response: ProviderResponse) {
        guard let stream = self.streams.remove(streamID) else { return }
        guard case .awaitingResponse = stream.state else { return self.streams.insert(stream) }
        // Rejected requests cost a client nothing, so they earn it nothing.
        if (200..<300).contains(response.status) { self.floodLimiter.earn() }
        if !stream.omitsBody, let body = response.body, !body.isEmpty {
            self.write(response, body, of: stream)
        } else {
            self.encoder.write(response, streamID: streamID, omitsBody: true, into: &self.output)
        }
        self.finishIfDrained()
    }

    private mutating func write(_ response: ProviderResponse, _ body: String, of stream: HTTP2ServerStream) {
        let length = body.utf8.count
        guard self.output.readableBytes + self.unsent.byteCount + length <= HTTP2ServerLimits.maximumOutput else {
            return self.output.writeReset(stream.id, .enhanceYourCalm)
        }
        self.encoder.write(response, streamID: stream.id, into: &self.output)
        if length <= min(self.sendWindow.size, stream.sendWindow.size, self.peer.maximumFrameLength) {
            self.sendWindow.consume(length)
            self.output.write(FrameHeader(length: length, type: .data, flags: .endStream, streamID: stream.id))
            self.output.writeString(body)
            self.allowUpdates(forFrames: 1)
        } else {
            var stream = stream
            stream.state = .sending
            self.streams.insert(stream)
            self.unsent.set(ByteBuffer(string: body), for: stream.id)
            self.sendBody(of: stream.id)
        }
    }

    /// Sends as much of a body as the windows allow.
    private mutating func sendBody(of streamID: UInt32) {
        self.streamsVisited += 1
        guard let position = self.streams.position(of: streamID), var rest = self.unsent[streamID] else { return }
        let frames = self.output.writeData(
            &rest,
            streamID: streamID,
            connectionWindow: &self.sendWindow,
            streamWindow: &self.streams[position].sendWindow,
            maximumFrameLength: self.peer.maximumFrameLength
        )
        self.allowUpdates(forFrames: frames)
        if frames > 0 { self.timers.windowlessSince = nil }
        self.unsent.set(rest, for: streamID)
        guard rest.readableBytes == 0 else { return self.enqueue(at: position) }
        _ = self.streams.remove(streamID)
        self.finishIfDrained()
    }

    /// Queues a body that only the connection's window holds back.
    mutating func enqueue(at position: Int) {
        let stream = self.streams[position]
        guard case .sending = stream.state, stream.sendWindow.size > 0, !stream.isQueued else { return }
        self.unsent.enqueue(stream.id)
        self.streams[position].isQueued = true
    }

    /// Continues with the queued bodies. No other stream is visited.
    mutating func sendBodies() {
        while self.sendWindow.size > 0, let streamID = self.unsent.dequeue() {
            guard let position = self.streams.position(of: streamID) else { continue }
            self.streams[position].isQueued = false
            self.sendBody(of: streamID)
        }
    }

    /// Expects the WINDOW_UPDATE frames that the client sends in return for DATA frames.
    private mutating func allowUpdates(forFrames frames: Int) {
        let allowed = self.allowedUpdates + frames * HTTP2ServerLimits.updatesPerData
        self.allowedUpdates = min(HTTP2ServerLimits.maximumUpdates, allowed)
    }

    /// WINDOW_UPDATE (RFC 9113 section 6.9). Those that correspond to no DATA frame count as idle frames.
    mutating func receiveWindowUpdate(_ increment: UInt32, streamID: UInt32) throws(HTTP2ConnectionError) {
        if self.allowedUpdates > 0 { self.allowedUpdates -= 1 } else { try self.floodLimiter.spend() }
        if streamID == 0 {
            try self.sendWindow.increaseConnection(by: increment)
            return self.sendBodies()
        }
        try self.checkOpened(streamID)
        guard let position = self.streams.position(of: streamID) else { return }
        if let code = self.streams[position].sendWindow.increase(by: increment) {
            return try self.reset(faulty: streamID, code)
        }
        self.sendBody(of: streamID)
    }
}
