import NIOCore
import PushWire

/// Writing answers, within the windows of RFC 9113 section 5.2.
extension HTTP2ServerStateMachine {
    /// Many answers, in order.
    mutating func answer(_ answers: [(stream: UInt32, answer: ProviderResponse)]) {
        for (stream, answer) in answers { self.answer(stream, answer) }
    }

    /// The answer to a request; dropped if nobody awaits it any more.
    mutating func answer(_ streamID: UInt32, _ answer: ProviderResponse) {
        guard let stream = self.streams.remove(streamID) else { return }
        guard case .awaitingAnswer = stream.state else { return self.streams.insert(stream) }
        // A refusal is worth nothing: requests that are refused are to be had for nothing too.
        if (200..<300).contains(answer.status) { self.budget.earn() }
        if !stream.omitsBody, let body = answer.body, !body.isEmpty {
            self.write(answer, body, of: stream)
        } else {
            self.encoder.write(answer, streamID: streamID, omitsBody: true, into: &self.output)
        }
        self.finishIfDrained()
    }

    private mutating func write(_ answer: ProviderResponse, _ body: String, of stream: HTTP2ServerStream) {
        let length = body.utf8.count
        guard self.output.readableBytes + self.unsentBytes + length <= HTTP2ServerLimits.maximumOutput else {
            self.output.writeFrame(.resetStream, streamID: stream.id, words: HTTP2ErrorCode.enhanceYourCalm.rawValue)
            return
        }
        self.encoder.write(answer, streamID: stream.id, into: &self.output)
        if length <= min(self.sendWindow, stream.sendWindow, self.peerMaximumFrame) {
            self.sendWindow -= length
            self.output.write(FrameHeader(length: length, type: .data, flags: .endStream, streamID: stream.id))
            self.output.writeString(body)
            self.allowUpdates()
        } else {
            self.streams.insert(HTTP2ServerStream(id: stream.id, sendWindow: stream.sendWindow, state: .sending))
            self.unsentBodies[stream.id] = ByteBuffer(string: body)
            self.unsentBytes += length
            self.sendBody(of: stream.id)
        }
    }

    /// Sends as much of a body as the windows allow.
    private mutating func sendBody(of streamID: UInt32) {
        self.streamsVisited += 1
        guard let position = self.streams.position(of: streamID), var rest = self.unsentBodies[streamID] else { return }
        while rest.readableBytes > 0 {
            let window = min(self.sendWindow, self.streams[position].sendWindow, self.peerMaximumFrame)
            guard window > 0, let chunk = rest.readSlice(length: min(window, rest.readableBytes)) else { break }
            self.sendWindow -= chunk.readableBytes
            self.streams[position].sendWindow -= chunk.readableBytes
            self.unsentBytes -= chunk.readableBytes
            self.output.write(
                FrameHeader(
                    length: chunk.readableBytes,
                    type: .data,
                    flags: rest.readableBytes == 0 ? .endStream : [],
                    streamID: streamID
                )
            )
            self.output.writeImmutableBuffer(chunk)
            self.allowUpdates()
        }
        guard rest.readableBytes == 0 else {
            self.unsentBodies[streamID] = rest
            return self.noteReady(at: position)
        }
        self.unsentBodies[streamID] = nil
        _ = self.streams.remove(streamID)
        self.finishIfDrained()
    }

    /// A body that its own stream lets go on waits for the connection's window.
    mutating func noteReady(at position: Int) {
        let stream = self.streams[position]
        guard case .sending = stream.state, stream.sendWindow > 0, !stream.isReady else { return }
        // Streams that ended while they waited are not passed before the window opens.
        if self.ready.count > 2 * self.unsentBodies.count + 64 {
            self.ready.removeAll { self.unsentBodies[$0] == nil }
        }
        self.streams[position].isReady = true
        self.ready.append(stream.id)
    }

    /// Continues with the bodies that waited for the connection's window, each in its turn. Others are not looked at.
    mutating func sendBodies() {
        while self.sendWindow > 0, let streamID = self.ready.popFirst() {
            guard let position = self.streams.position(of: streamID) else { continue }
            self.streams[position].isReady = false
            self.sendBody(of: streamID)
        }
    }

    /// The client will confirm what it takes.
    private mutating func allowUpdates() {
        let allowed = self.allowedUpdates + HTTP2ServerLimits.updatesPerData
        self.allowedUpdates = min(HTTP2ServerLimits.maximumUpdates, allowed)
    }

    /// Only frames that answer no DATA of ours are idle ones.
    private mutating func spendUpdate() throws(HTTP2ConnectionError) {
        guard self.allowedUpdates == 0 else { return self.allowedUpdates -= 1 }
        try self.spend()
    }

    /// RFC 9113 section 6.9.
    mutating func receiveWindowUpdate(
        _ head: FrameHeader,
        _ content: borrowing Span<UInt8>
    ) throws(HTTP2ConnectionError) {
        try self.spendUpdate()
        guard content.count == 4 else { throw HTTP2ConnectionError(.frameSizeError, "WINDOW_UPDATE") }
        let increment = Int(content.integer(at: 0) & 0x7fff_ffff)
        if head.streamID == 0 {
            guard increment > 0 else { throw HTTP2ConnectionError(.protocolError, "window update of zero") }
            self.sendWindow += increment
            guard self.sendWindow <= HTTP2Constants.largestWindow else {
                throw HTTP2ConnectionError(.flowControlError, "connection window over 2^31-1")
            }
            return self.sendBodies()
        }
        try self.checkOpened(head.streamID)
        guard let position = self.streams.position(of: head.streamID) else { return }
        guard increment > 0 else { return try self.reset(faulty: head.streamID, .protocolError) }
        self.streams[position].sendWindow += increment
        guard self.streams[position].sendWindow <= HTTP2Constants.largestWindow else {
            return try self.reset(faulty: head.streamID, .flowControlError)
        }
        self.sendBody(of: head.streamID)
    }
}
