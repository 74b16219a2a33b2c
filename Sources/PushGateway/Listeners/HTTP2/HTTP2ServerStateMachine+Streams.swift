import NIOCore
import PushWire

/// Ending streams before they are answered.
extension HTTP2ServerStateMachine {
    /// RST_STREAM for a stream that is open, from our side of it; the client's next frames on it are ignored.
    mutating func reset(_ streamID: UInt32, _ code: HTTP2ErrorCode) {
        guard self.phase != .finished, let stream = self.streams.remove(streamID) else { return }
        self.output.writeFrame(.resetStream, streamID: streamID, words: code.rawValue)
        if case .receiving = stream.state { self.ended(streamID) }
        self.forget(stream)
        self.finishIfDrained()
    }

    /// The client broke a rule that concerns one stream only.
    mutating func reset(faulty streamID: UInt32, _ code: HTTP2ErrorCode) throws(HTTP2ConnectionError) {
        try self.spend(HTTP2ServerLimits.lostStreamCost)
        self.reset(streamID, code)
    }

    /// A request that is not let in.
    mutating func refuse(
        _ streamID: UInt32,
        _ code: HTTP2ErrorCode,
        endsStream: Bool
    ) throws(HTTP2ConnectionError) {
        try self.spend(HTTP2ServerLimits.lostStreamCost)
        self.output.writeFrame(.resetStream, streamID: streamID, words: code.rawValue)
        if !endsStream { self.ended(streamID) }
    }

    /// One stream more than announced.
    mutating func refuse(_ streamID: UInt32, endsStream: Bool) throws(HTTP2ConnectionError) {
        switch self.limits.excess {
        case .refuseStream:
            try self.spend()
            self.output.writeFrame(.resetStream, streamID: streamID, words: HTTP2ErrorCode.refusedStream.rawValue)
            if !endsStream { self.ended(streamID) }
        case .endConnection:
            throw HTTP2ConnectionError(
                .refusedStream,
                "Violated maximum of active streams: \(self.streams.count + 1) opened, \(self.streamLimit) allowed"
            )
        }
    }

    /// Status 431, which a client's log can name.
    mutating func refuseTooLong(_ streamID: UInt32, endsStream: Bool) throws(HTTP2ConnectionError) {
        try self.spend(HTTP2ServerLimits.lostStreamCost)
        self.encoder.write(ProviderResponse(status: 431), streamID: streamID, into: &self.output)
        guard !endsStream else { return }
        // RFC 9113 section 8.1: the rest of the request is not wanted.
        self.output.writeFrame(.resetStream, streamID: streamID, words: HTTP2ErrorCode.noError.rawValue)
        self.ended(streamID)
    }

    /// Remembers that frames of this stream may still come.
    private mutating func ended(_ streamID: UInt32) {
        if self.endedStreams.count >= HTTP2ServerLimits.maximumEndedStreams { self.endedStreams.removeFirst() }
        self.endedStreams.append(streamID)
    }

    /// Frees what is kept for a stream that is out of the table.
    mutating func forget(_ stream: HTTP2ServerStream) {
        switch stream.state {
        case .receiving(let slot):
            if let request = self.incompleteRequests.remove(slot) { self.incompleteBytes -= request.held }
        case .awaitingAnswer: self.cancelled.append(stream.id)
        case .sending:
            if let body = self.unsentBodies.removeValue(forKey: stream.id) { self.unsentBytes -= body.readableBytes }
        }
    }

    /// Checks that the client has opened a stream, also long ago.
    /// - Parameter code: the connection's error if it has not.
    func checkOpened(
        _ streamID: UInt32,
        orElse code: HTTP2ErrorCode = .protocolError
    ) throws(HTTP2ConnectionError) {
        let last = max(self.highestStreamID, self.goAwayStreamID == nil ? 0 : HTTP2Constants.largestStreamID)
        guard streamID & 1 == 1, streamID <= last else {
            throw HTTP2ConnectionError(code, "frame on a stream that was never opened")
        }
    }

    /// DATA for a stream that has ended: harmless if it crossed our own end of it.
    mutating func receivedOnClosed(_ streamID: UInt32) throws(HTTP2ConnectionError) {
        if let last = self.goAwayStreamID, streamID > last { return try self.spend() }
        guard !self.endedStreams.contains(streamID) else { return try self.spend() }
        try self.spend(HTTP2ServerLimits.lostStreamCost)
        self.output.writeFrame(.resetStream, streamID: streamID, words: HTTP2ErrorCode.streamClosed.rawValue)
    }
}
