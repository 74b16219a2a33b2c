import NIOCore

/// Frames of a request: HEADERS with CONTINUATION, DATA and RST_STREAM.
extension HTTP2ServerStateMachine {
    mutating func receiveBlock(
        _ block: HTTP2HeaderBlock,
        _ bytes: borrowing Span<UInt8>,
        now: NIODeadline
    ) throws(HTTP2ConnectionError) {
        guard let range = block.range else {
            let gathered = self.reader.takeGatheredBlock()
            return try self.receiveHeaders(block, gathered.span, now: now)
        }
        try self.receiveHeaders(block, bytes.extracting(range), now: now)
    }

    /// Decodes a header block, also that of an unwanted request, because the dynamic table depends on it.
    private mutating func receiveHeaders(
        _ block: HTTP2HeaderBlock,
        _ bytes: borrowing Span<UInt8>,
        now: NIODeadline
    ) throws(HTTP2ConnectionError) {
        let (streamID, endsStream) = (block.streamID, block.endsStream)
        var head: RequestHead
        do {
            head = try self.decoder.decode(bytes)
        } catch {
            throw HTTP2ConnectionError(.compressionError, "header block cannot be decoded")
        }
        if block.dependsOnItself { head.isMalformed = true }
        if let last = self.shutdown.goAwayStreamID, streamID > last { return try self.floodLimiter.spend() }
        guard streamID > self.highestStreamID else { return try self.receiveTrailers(head, block, now: now) }
        self.highestStreamID = streamID
        guard self.streams.count < self.streamLimit.current else {
            return try self.refuseExcess(streamID, endsStream: endsStream)
        }
        guard !head.isTooLong else { return try self.rejectTooLong(streamID, endsStream: endsStream) }
        guard !head.isMalformed, head.isRequest, !endsStream || head.contentLength <= 0 else {
            return try self.rejectMalformed(streamID, endsStream: endsStream)
        }
        let state: HTTP2ServerStream.State
        if endsStream {
            state = .awaitingResponse
            self.noteRequest(now: now)
            self.add(.request(stream: streamID, head.request))
        } else {
            let deadline = now + self.limits.request
            state = .receiving(self.incomplete.insert(IncompleteRequest(stream: streamID, head, deadline: deadline)))
        }
        self.streams.insert(
            HTTP2ServerStream(
                id: streamID,
                sendWindow: self.peer.initialWindow,
                state: state,
                omitsBody: head.request.method == "HEAD"
            )
        )
    }

    /// Takes trailers: nothing in them matters, but they end the request.
    private mutating func receiveTrailers(
        _ head: RequestHead,
        _ block: HTTP2HeaderBlock,
        now: NIODeadline
    ) throws(HTTP2ConnectionError) {
        guard let position = self.streams.position(of: block.streamID) else {
            guard self.endedStreams.contains(block.streamID) else {
                throw HTTP2ConnectionError(.streamClosed, "HEADERS on a closed stream")
            }
            return try self.floodLimiter.spend()
        }
        guard case .receiving(let slot) = self.streams[position].state else {
            return try self.reset(faulty: block.streamID, .streamClosed)
        }
        guard block.endsStream, !head.isMalformed, head.pseudo == 0, !head.isTooLong,
            self.incomplete[slot]?.hasWholeBody == true
        else { return try self.reset(faulty: block.streamID, .protocolError) }
        self.complete(slot, at: position, now: now)
    }

    mutating func receiveData(
        _ frame: HTTP2Frame,
        _ data: borrowing Span<UInt8>,
        now: NIODeadline
    ) throws(HTTP2ConnectionError) {
        let id = frame.streamID
        try self.checkOpened(id)
        try self.receiveWindow.receiveOnConnection(frame.length, output: &self.output)
        guard let position = self.streams.position(of: id) else { return try self.receivedOnClosed(id) }
        guard case .receiving(let slot) = self.streams[position].state else {
            return try self.reset(faulty: id, .streamClosed)
        }
        if data.count < HTTP2ServerLimits.smallData, !frame.endsStream {
            // Many clients send a small body whole and its end in a frame of its own: the first piece costs nothing.
            let isFirst = data.count > 0 && self.incomplete[slot]?.request.bodyLength == 0
            if !isFirst { try self.floodLimiter.spend() }
        }
        let error = self.incomplete.append(data, to: slot, length: frame.length, endsStream: frame.endsStream)
        if let error { return try self.reset(faulty: id, error) }
        if frame.endsStream { return self.complete(slot, at: position, now: now) }
        if let increment = self.incomplete[slot]?.replenish() {
            self.output.writeFrame(.windowUpdate, streamID: id, words: increment)
        }
    }

    private mutating func complete(_ slot: Int, at position: Int, now: NIODeadline) {
        guard let complete = self.incomplete.remove(slot) else { return }
        self.streams[position].state = .awaitingResponse
        self.noteRequest(now: now)
        self.add(.request(stream: complete.stream, complete.request))
    }

    private mutating func noteRequest(now: NIODeadline) {
        self.timers.lastRequest = now
        self.timers.lateChecks = 0
    }

    mutating func receiveReset(_ streamID: UInt32) throws(HTTP2ConnectionError) {
        try self.checkOpened(streamID)
        guard let stream = self.streams.remove(streamID) else { return try self.floodLimiter.spend() }
        self.forget(stream)
        try self.floodLimiter.spend(HTTP2ServerLimits.lostStreamCost)
        self.finishIfDrained()
    }
}
