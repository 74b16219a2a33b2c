/// Frames of a response: HEADERS with CONTINUATION, DATA and RST_STREAM.
extension HTTP2ClientStateMachine {
    mutating func receiveBlock(
        _ block: HTTP2HeaderBlock,
        _ bytes: borrowing Span<UInt8>
    ) throws(HTTP2ConnectionError) {
        guard let range = block.range else {
            let gathered = self.reader.takeGatheredBlock()
            return try self.receiveHeaders(block, gathered.span)
        }
        try self.receiveHeaders(block, bytes.extracting(range))
    }

    /// Decodes a header block, also that of a stream that has ended, because the dynamic table depends on it.
    private mutating func receiveHeaders(
        _ block: HTTP2HeaderBlock,
        _ bytes: borrowing Span<UInt8>
    ) throws(HTTP2ConnectionError) {
        let list: ResponseHeaderList
        do {
            list = try self.decoder.decode(bytes)
        } catch {
            throw HTTP2ConnectionError(.compressionError, "header block cannot be decoded")
        }
        guard !list.isTooLong else { throw HTTP2ConnectionError(.enhanceYourCalm, "header list too long") }
        let (id, status) = (block.streamID, list.head.status)
        guard let position = self.streams.position(of: id) else { return try self.floodLimiter.spend() }
        if self.streams.hasResponse(at: position) {
            // Trailers: nothing in them matters, but they end the stream.
            guard block.endsStream else { return self.reset(id, .protocolError) }
            return self.complete(id)
        }
        if (100..<200).contains(status) {
            try self.floodLimiter.spend()
            if block.endsStream { self.reset(id, .protocolError) }
            return
        }
        guard status != 0 else { return self.reset(id, .protocolError) }
        guard block.endsStream, self.streams[position].isSent else {
            self.streams.setResponse(list.head, at: position)
            if block.endsStream { self.complete(id) }
            return
        }
        guard let (stream, _) = self.streams.remove(id) else { return }
        self.floodLimiter.earn()
        self.add(.response(ticket: stream.ticket, HTTP2Response(head: list.head)))
        self.finishIfDrained()
    }

    mutating func receiveData(_ frame: HTTP2Frame, _ data: borrowing Span<UInt8>) throws(HTTP2ConnectionError) {
        let id = frame.streamID
        try self.checkOpened(id)
        try self.receiveWindow.receiveOnConnection(frame.length, output: &self.output)
        guard self.streams.position(of: id) != nil else { return try self.floodLimiter.spend() }
        guard let fits = self.streams.appendBody(data, to: id) else { return self.reset(id, .protocolError) }
        if data.isEmpty, !frame.endsStream { try self.floodLimiter.spend() }
        if !fits { return self.reset(id, .cancel) }
        if frame.endsStream { self.complete(id) }
    }

    mutating func receiveReset(_ streamID: UInt32, _ code: UInt32) throws(HTTP2ConnectionError) {
        try self.checkOpened(streamID)
        guard let (stream, response) = self.streams.remove(streamID) else { return try self.floodLimiter.spend() }
        if response == nil, code == HTTP2ErrorCode.refusedStream.rawValue {
            self.add(.notProcessed(ticket: stream.ticket, .reset(code)))
        } else {
            self.end(stream, response, .reset(code))
        }
        self.finishIfDrained()
    }

    /// Ends a request whose response is complete. If the server responded before the whole request, its rest is
    /// cancelled (RFC 9113 section 8.1).
    private mutating func complete(_ streamID: UInt32) {
        guard let (stream, response) = self.streams.remove(streamID) else { return }
        if !stream.isSent { self.output.writeReset(streamID, .cancel) }
        self.floodLimiter.earn()
        self.end(stream, response, .responseTimeout)
        self.finishIfDrained()
    }

    /// Resets one stream.
    mutating func reset(_ streamID: UInt32, _ code: HTTP2ErrorCode, cause: HTTP2RequestFailure? = nil) {
        guard let (stream, response) = self.streams.remove(streamID) else { return }
        self.output.writeReset(streamID, code)
        self.end(stream, response, cause ?? .violation(code, "malformed response"))
        self.finishIfDrained()
    }

    /// Throws for a stream that is not and was not open (RFC 9113 section 5.1).
    func checkOpened(_ streamID: UInt32) throws(HTTP2ConnectionError) {
        guard self.streams.hasOpened(streamID) else {
            throw HTTP2ConnectionError(.protocolError, "frame on a stream that was never opened")
        }
    }
}
