import PushWire

/// Frames that belong to a request: HEADERS, CONTINUATION, DATA, RST_STREAM.
extension HTTP2ClientStateMachine {
    mutating func receiveHeaders(_ head: FrameHeader, _ content: borrowing Span<UInt8>) throws(HTTP2ConnectionError) {
        try self.checkOpened(head.streamID)
        var range = try Self.unpadded(head, content)
        if head.flags.contains(.priority) {
            guard range.count >= 5 else { throw HTTP2ConnectionError(.frameSizeError, "HEADERS with priority") }
            range = range.lowerBound + 5..<range.upperBound
        }
        let block = content.extracting(range)
        let endsStream = head.flags.contains(.endStream)
        if head.flags.contains(.endHeaders) {
            return try self.receiveBlock(block, streamID: head.streamID, endsStream: endsStream)
        }
        self.openBlock = OpenBlock(streamID: head.streamID, endsStream: endsStream, bytes: [])
        try self.extendBlock(block)
    }

    mutating func receiveContinuation(
        _ head: FrameHeader,
        _ content: borrowing Span<UInt8>
    ) throws(HTTP2ConnectionError) {
        guard self.openBlock?.streamID == head.streamID else {
            throw HTTP2ConnectionError(.protocolError, "CONTINUATION without HEADERS")
        }
        try self.spend()
        try self.extendBlock(content)
        guard head.flags.contains(.endHeaders), let block = self.openBlock else { return }
        self.openBlock = nil
        try self.receiveBlock(block.bytes.span, streamID: block.streamID, endsStream: block.endsStream)
    }

    private mutating func extendBlock(_ content: borrowing Span<UInt8>) throws(HTTP2ConnectionError) {
        let length = (self.openBlock?.bytes.count ?? 0) + content.count
        guard length <= HTTP2Constants.maximumHeaderBlock else {
            throw HTTP2ConnectionError(.enhanceYourCalm, "header block too long")
        }
        for index in content.indices { self.openBlock?.bytes.append(content[index]) }
    }

    /// A complete header block. It is decoded even if nobody waits for it any more: the table goes on.
    private mutating func receiveBlock(
        _ block: borrowing Span<UInt8>,
        streamID: UInt32,
        endsStream: Bool
    ) throws(HTTP2ConnectionError) {
        let head: ResponseHead
        do {
            head = try self.decoder.decode(block)
        } catch {
            switch error {
            case .malformed: throw HTTP2ConnectionError(.compressionError, "header block cannot be decoded")
            case .listTooLong: throw HTTP2ConnectionError(.enhanceYourCalm, "header list too long")
            }
        }
        guard let position = self.streams.position(of: streamID) else { return try self.spend() }
        if self.streams[position].hasParts, self.parts[streamID]?.head != nil {
            // Trailers: nothing in them matters, but they end the stream.
            guard endsStream else { return self.reset(streamID, .protocolError) }
            return self.complete(streamID)
        }
        if (100..<200).contains(head.status) {
            try self.spend()
            if endsStream { self.reset(streamID, .protocolError) }
            return
        }
        guard head.status != 0 else { return self.reset(streamID, .protocolError) }
        if endsStream, !self.streams[position].hasParts {
            guard let stream = self.removeStream(streamID) else { return }
            self.budget.earn()
            self.events.append(.replied(stream.ticket, HTTP2Response(head: head)))
            return self.finishIfDrained()
        }
        self.streams[position].hasParts = true
        self.parts[streamID, default: Parts()].head = head
        if endsStream { self.complete(streamID) }
    }

    mutating func receiveData(_ head: FrameHeader, _ content: borrowing Span<UInt8>) throws(HTTP2ConnectionError) {
        try self.checkOpened(head.streamID)
        // Padding counts too (RFC 9113 section 6.9.1).
        guard content.count <= self.receiveWindow else {
            throw HTTP2ConnectionError(.flowControlError, "more data than the connection window")
        }
        self.receiveWindow -= content.count
        if self.receiveWindow < HTTP2Constants.connectionReceiveWindow / 2 {
            let increment = HTTP2Constants.connectionReceiveWindow - self.receiveWindow
            self.output.writeFrame(.windowUpdate, words: UInt32(truncatingIfNeeded: increment))
            self.receiveWindow = HTTP2Constants.connectionReceiveWindow
        }
        let range = try Self.unpadded(head, content)
        guard self.streams.position(of: head.streamID) != nil else { return try self.spend() }
        guard let length = self.parts[head.streamID].flatMap({ $0.head == nil ? nil : $0.body.count }) else {
            return self.reset(head.streamID, .protocolError)
        }
        let endsStream = head.flags.contains(.endStream)
        if range.isEmpty, !endsStream { try self.spend() }
        let room = HTTP2ClientLimits.maximumReplyBody - length
        for index in range.prefix(room) { self.parts[head.streamID]?.body.append(content[index]) }
        if range.count > room { return self.reset(head.streamID, .cancel) }
        if endsStream { self.complete(head.streamID) }
    }

    mutating func receiveReset(_ head: FrameHeader, _ content: borrowing Span<UInt8>) throws(HTTP2ConnectionError) {
        guard content.count == 4 else { throw HTTP2ConnectionError(.frameSizeError, "RST_STREAM") }
        try self.checkOpened(head.streamID)
        let code = content.integer(at: 0)
        guard let stream = self.removeStream(head.streamID) else { return try self.spend() }
        let parts = self.parts.removeValue(forKey: head.streamID)
        if parts?.head == nil, code == HTTP2ErrorCode.refusedStream.rawValue {
            self.events.append(.notProcessed(stream.ticket, .reset(code)))
        } else {
            self.end(stream, parts: parts, .reset(code))
        }
        self.finishIfDrained()
    }

    /// The reply is there. A service may answer before it has the whole request; then the rest is taken back.
    private mutating func complete(_ streamID: UInt32) {
        guard let stream = self.removeStream(streamID) else { return }
        let parts = self.parts.removeValue(forKey: streamID)
        if !stream.isSent {
            self.output.writeFrame(.resetStream, streamID: streamID, words: HTTP2ErrorCode.cancel.rawValue)
        }
        self.budget.earn()
        self.end(stream, parts: parts, .replyTimeout)
        self.finishIfDrained()
    }

    /// Ends one stream from our side.
    mutating func reset(_ streamID: UInt32, _ code: HTTP2ErrorCode, cause: RequestFailure? = nil) {
        guard let stream = self.removeStream(streamID) else { return }
        self.output.writeFrame(.resetStream, streamID: streamID, words: code.rawValue)
        self.end(stream, parts: self.parts.removeValue(forKey: streamID), cause ?? .violation(code, "malformed reply"))
        self.finishIfDrained()
    }

    /// Frames may come for streams that we opened, also long ago.
    func checkOpened(_ streamID: UInt32) throws(HTTP2ConnectionError) {
        guard streamID & 1 == 1, streamID < self.nextStreamID else {
            throw HTTP2ConnectionError(.protocolError, "frame on a stream that was never opened")
        }
    }

    /// A frame for a stream that has ended: harmless, but counted.
    mutating func checkClosed(_ streamID: UInt32) throws(HTTP2ConnectionError) {
        try self.checkOpened(streamID)
        try self.spend()
    }

    private static func unpadded(
        _ head: FrameHeader,
        _ content: borrowing Span<UInt8>
    ) throws(HTTP2ConnectionError) -> Range<Int> {
        guard let range = head.unpadded(content) else {
            throw HTTP2ConnectionError(.protocolError, "padding longer than the frame")
        }
        return range
    }
}
