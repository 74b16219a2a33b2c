/// Ending streams before they have a response.
extension HTTP2ServerStateMachine {
    /// Resets an open stream. The client's next frames on it are ignored.
    package mutating func reset(_ streamID: UInt32, _ code: HTTP2ErrorCode) {
        guard self.phase != .finished, let stream = self.streams.remove(streamID) else { return }
        self.output.writeReset(streamID, code)
        if case .receiving = stream.state { self.endedStreams.insert(streamID) }
        self.forget(stream)
        self.finishIfDrained()
    }

    /// Resets a stream on which the client broke a rule.
    mutating func reset(faulty streamID: UInt32, _ code: HTTP2ErrorCode) throws(HTTP2ConnectionError) {
        try self.floodLimiter.spend(HTTP2ServerLimits.lostStreamCost)
        self.reset(streamID, code)
    }

    /// Resets the stream of a malformed request (RFC 9113 section 8.1.1).
    mutating func rejectMalformed(_ streamID: UInt32, endsStream: Bool) throws(HTTP2ConnectionError) {
        try self.floodLimiter.spend(HTTP2ServerLimits.lostStreamCost)
        self.output.writeReset(streamID, .protocolError)
        if !endsStream { self.endedStreams.insert(streamID) }
    }

    /// Refuses a request beyond the stream limit.
    mutating func refuseExcess(_ streamID: UInt32, endsStream: Bool) throws(HTTP2ConnectionError) {
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

    /// Responds with status 431, which the log of a client can name.
    mutating func rejectTooLong(_ streamID: UInt32, endsStream: Bool) throws(HTTP2ConnectionError) {
        try self.floodLimiter.spend(HTTP2ServerLimits.lostStreamCost)
        self.encoder.write(ProviderResponse(status: 431), streamID: streamID, into: &self.output)
        guard !endsStream else { return }
        // RFC 9113 section 8.1: the rest of the request is not wanted.
        self.output.writeReset(streamID, .noError)
        self.endedStreams.insert(streamID)
    }

    /// Frees the memory of a stream that has been removed.
    mutating func forget(_ stream: HTTP2ServerStream) {
        switch stream.state {
        case .receiving(let slot): _ = self.incomplete.remove(slot)
        case .awaitingResponse: self.add(.cancelled(stream: stream.id))
        case .sending: self.unsent.remove(stream.id)
        }
    }

    /// Removes and forgets the streams with the given property.
    mutating func forgetStreams(where matches: (HTTP2ServerStream) -> Bool) {
        for stream in self.streams.sorted(where: matches) {
            _ = self.streams.remove(stream.id)
            self.forget(stream)
        }
    }

    /// Throws for a stream that is not and was not open (RFC 9113 section 5.1).
    /// - Parameter code: The code of the connection error.
    func checkOpened(
        _ streamID: UInt32,
        orElse code: HTTP2ErrorCode = .protocolError
    ) throws(HTTP2ConnectionError) {
        let last = self.shutdown.goAwayStreamID == nil ? self.highestStreamID : HTTP2Constants.largestStreamID
        guard streamID & 1 == 1, streamID <= last else {
            throw HTTP2ConnectionError(code, "frame on a stream that was never opened")
        }
    }

    /// DATA for a stream that has ended. It is harmless if the server ended the stream first.
    mutating func receivedOnClosed(_ streamID: UInt32) throws(HTTP2ConnectionError) {
        if let last = self.shutdown.goAwayStreamID, streamID > last { return try self.floodLimiter.spend() }
        guard !self.endedStreams.contains(streamID) else { return try self.floodLimiter.spend() }
        try self.floodLimiter.spend(HTTP2ServerLimits.lostStreamCost)
        self.output.writeReset(streamID, .streamClosed)
    }
}
