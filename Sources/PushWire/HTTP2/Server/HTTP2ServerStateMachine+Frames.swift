package import NIOCore

/// The frames of the connection: the preface, SETTINGS, PING, GOAWAY and PRIORITY.
extension HTTP2ServerStateMachine: HTTP2Endpoint {
    private static let preface = Array(HTTP2Constants.preface.utf8)

    /// Processes bytes from the client, which may be split at any point.
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

    /// Consumes the preface. Returns whether it is complete (RFC 9113 section 3.4).
    /// - Throws: ``HTTP2ConnectionError`` for other bytes than those of the preface.
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
            // The client leaves. Its requests still get responses, and then the connection is closed.
            try self.floodLimiter.spend()
            self.shutdown.clientIsLeaving = true
            self.finishIfDrained()
        case .priority(let dependency): try self.receivePriority(frame.streamID, dependency)
        case .pushPromise: throw HTTP2ConnectionError(.protocolError, "PUSH_PROMISE from a client")
        case .unknown: try self.floodLimiter.spend()
        }
    }

    // MARK: PRIORITY

    /// Checks the priority of a stream, and ignores it if it is valid, as Apple does (APNs reference 1.3).
    private mutating func receivePriority(_ streamID: UInt32, _ dependency: UInt32?) throws(HTTP2ConnectionError) {
        guard streamID != 0 else { throw HTTP2ConnectionError(.protocolError, "PRIORITY on stream 0") }
        try self.floodLimiter.spend()
        guard let dependency else { return try self.rejectPriority(of: streamID, .frameSizeError) }
        if dependency == streamID { try self.rejectPriority(of: streamID, .protocolError) }
    }

    /// Resets a stream because of its invalid priority, even if it is closed (RFC 7540 sections 5.3.1 and 6.3). For a
    /// stream that was never opened, the error is a connection error, because RST_STREAM must not be sent for it (RFC
    /// 9113 section 6.4).
    private mutating func rejectPriority(of streamID: UInt32, _ code: HTTP2ErrorCode) throws(HTTP2ConnectionError) {
        try self.checkOpened(streamID, orElse: code)
        if self.streams.position(of: streamID) != nil { return try self.reset(faulty: streamID, code) }
        try self.floodLimiter.spend(HTTP2ServerLimits.lostStreamCost)
        if let last = self.shutdown.goAwayStreamID, streamID > last { return }
        self.output.writeReset(streamID, code)
    }

    // MARK: SETTINGS

    /// Announces a changed stream limit, which may be higher or lower. A lower one is enforced once the client
    /// acknowledges it.
    package mutating func announce(streamLimit: Int, now: NIODeadline) {
        guard self.phase != .finished else { return }
        let deadline = now + self.limits.settingsAcknowledgement
        guard let streams = self.streamLimit.announce(streamLimit, deadline: deadline) else { return }
        self.output.writeSettings([(.maximumConcurrentStreams, UInt32(streams))])
    }

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

    /// Changes the send windows of all open streams, and charges the flood limiter in proportion to their number.
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

/// The frames of a request: HEADERS with CONTINUATION, DATA and RST_STREAM.
extension HTTP2ServerStateMachine {
    private mutating func receiveBlock(
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

    /// Decodes a header block, even of an unwanted request, because later blocks depend on the dynamic table.
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

    /// Processes trailers. Their fields are ignored, but trailers must end the request.
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

    private mutating func receiveData(
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
            // Many clients send a small body in one frame and its end in another, so the first frame costs nothing.
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

    private mutating func receiveReset(_ streamID: UInt32) throws(HTTP2ConnectionError) {
        try self.checkOpened(streamID)
        guard let stream = self.streams.remove(streamID) else { return try self.floodLimiter.spend() }
        self.forget(stream)
        try self.floodLimiter.spend(HTTP2ServerLimits.lostStreamCost)
        self.finishIfDrained()
    }
}

/// The sending of responses within the flow-control windows (RFC 9113 section 5.2).
extension HTTP2ServerStateMachine {
    /// Sends the responses to several requests, in order.
    package mutating func respond(_ responses: [(stream: UInt32, response: ProviderResponse)]) {
        for (stream, response) in responses { self.respond(stream, response) }
    }

    /// Sends the response to a request. The response is dropped if the stream no longer expects one.
    package mutating func respond(_ streamID: UInt32, _ response: ProviderResponse) {
        guard let stream = self.streams.remove(streamID) else { return }
        guard case .awaitingResponse = stream.state else { return self.streams.insert(stream) }
        // Rejected requests cost a client nothing, so they add nothing to its credit.
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

    /// Queues a stream if its body waits only for the window of the connection.
    private mutating func enqueue(at position: Int) {
        let stream = self.streams[position]
        guard case .sending = stream.state, stream.sendWindow.size > 0, !stream.isQueued else { return }
        self.unsent.enqueue(stream.id)
        self.streams[position].isQueued = true
    }

    /// Continues to send the queued bodies. The work does not depend on the number of other streams.
    private mutating func sendBodies() {
        while self.sendWindow.size > 0, let streamID = self.unsent.dequeue() {
            guard let position = self.streams.position(of: streamID) else { continue }
            self.streams[position].isQueued = false
            self.sendBody(of: streamID)
        }
    }

    /// Allows the client as many WINDOW_UPDATE frames as it may send for the given number of sent DATA frames.
    private mutating func allowUpdates(forFrames frames: Int) {
        let allowed = self.allowedUpdates + frames * HTTP2ServerLimits.updatesPerData
        self.allowedUpdates = min(HTTP2ServerLimits.maximumUpdates, allowed)
    }

    /// Applies a WINDOW_UPDATE frame (RFC 9113 section 6.9). A frame that corresponds to no DATA frame is charged as an
    /// idle frame.
    private mutating func receiveWindowUpdate(_ increment: UInt32, streamID: UInt32) throws(HTTP2ConnectionError) {
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

/// The ending of streams that have no response.
extension HTTP2ServerStateMachine {
    /// Resets an open stream. Later frames of the client on the stream are ignored.
    package mutating func reset(_ streamID: UInt32, _ code: HTTP2ErrorCode) {
        guard self.phase != .finished, let stream = self.streams.remove(streamID) else { return }
        self.output.writeReset(streamID, code)
        if case .receiving = stream.state { self.endedStreams.insert(streamID) }
        self.forget(stream)
        self.finishIfDrained()
    }

    private mutating func reset(faulty streamID: UInt32, _ code: HTTP2ErrorCode) throws(HTTP2ConnectionError) {
        try self.floodLimiter.spend(HTTP2ServerLimits.lostStreamCost)
        self.reset(streamID, code)
    }

    private mutating func rejectMalformed(_ streamID: UInt32, endsStream: Bool) throws(HTTP2ConnectionError) {
        try self.floodLimiter.spend(HTTP2ServerLimits.lostStreamCost)
        self.output.writeReset(streamID, .protocolError)
        if !endsStream { self.endedStreams.insert(streamID) }
    }

    private mutating func refuseExcess(_ streamID: UInt32, endsStream: Bool) throws(HTTP2ConnectionError) {
        switch self.limits.excess {
        case .refuseStream:
            try self.floodLimiter.spend()
            self.output.writeReset(streamID, .refusedStream)
            if !endsStream { self.endedStreams.insert(streamID) }
        case .endConnection:
            let (opened, allowed) = (self.streams.count + 1, self.streamLimit.current)
            throw HTTP2ConnectionError(
                .refusedStream,
                "Violated maximum of active streams: \(opened) opened, \(allowed) allowed"
            )
        }
    }

    /// Responds with status 431, which clients can log, to a header list that is too long.
    private mutating func rejectTooLong(_ streamID: UInt32, endsStream: Bool) throws(HTTP2ConnectionError) {
        try self.floodLimiter.spend(HTTP2ServerLimits.lostStreamCost)
        self.encoder.write(ProviderResponse(status: 431), streamID: streamID, into: &self.output)
        guard !endsStream else { return }
        // The client need not send the rest of the request (RFC 9113 section 8.1).
        self.output.writeReset(streamID, .noError)
        self.endedStreams.insert(streamID)
    }

    private mutating func forget(_ stream: HTTP2ServerStream) {
        switch stream.state {
        case .receiving(let slot): _ = self.incomplete.remove(slot)
        case .awaitingResponse: self.add(.cancelled(stream: stream.id))
        case .sending: self.unsent.remove(stream.id)
        }
    }

    mutating func forgetStreams(where matches: (HTTP2ServerStream) -> Bool) {
        for stream in self.streams.sorted(where: matches) {
            _ = self.streams.remove(stream.id)
            self.forget(stream)
        }
    }

    /// Checks that a stream was opened (RFC 9113 section 5.1).
    /// - Parameter code: The code of the connection error that is thrown if it was not.
    private func checkOpened(
        _ streamID: UInt32,
        orElse code: HTTP2ErrorCode = .protocolError
    ) throws(HTTP2ConnectionError) {
        let last = self.shutdown.goAwayStreamID == nil ? self.highestStreamID : HTTP2Constants.largestStreamID
        guard streamID & 1 == 1, streamID <= last else {
            throw HTTP2ConnectionError(code, "frame on a stream that was never opened")
        }
    }

    /// Processes a DATA frame for a stream that has ended. It is an error unless the server ended the stream before the
    /// client did.
    private mutating func receivedOnClosed(_ streamID: UInt32) throws(HTTP2ConnectionError) {
        if let last = self.shutdown.goAwayStreamID, streamID > last { return try self.floodLimiter.spend() }
        guard !self.endedStreams.contains(streamID) else { return try self.floodLimiter.spend() }
        try self.floodLimiter.spend(HTTP2ServerLimits.lostStreamCost)
        self.output.writeReset(streamID, .streamClosed)
    }
}
