package import NIOCore

/// GOAWAY (RFC 9113 section 6.8) and the end of the connection.
extension HTTP2ServerStateMachine {
    /// The data of the PING that follows the notice of the end.
    static let drainPing: UInt64 = 0x6472_6169_0000_0000
    private static let shutdownReason = #"{"reason":"Shutdown"}"#

    /// Ends the connection in order: notifies the client, then takes no new requests, then waits for the responses.
    package mutating func drain(now: NIODeadline) {
        switch self.phase {
        case .waitingForPreface, .waitingForSettings: self.finish(.noError, Self.shutdownReason)
        case .open:
            self.phase = .draining(until: now + self.limits.drain)
            self.shutdown.noticeEnds = now + self.limits.drainNotice
            self.output.writeGoAway(
                lastStreamID: HTTP2Constants.largestStreamID,
                .noError,
                debugData: Self.shutdownReason
            )
            self.output.writePing(Self.drainPing)
        case .draining, .finished: break
        }
    }

    /// Ignores new requests, after the client had time to read the notice.
    mutating func refuseNewRequests() {
        guard self.shutdown.noticeEnds != nil else { return }
        self.shutdown.noticeEnds = nil
        self.shutdown.goAwayStreamID = self.highestStreamID
        self.output.writeGoAway(lastStreamID: self.highestStreamID, .noError, debugData: Self.shutdownReason)
        self.finishIfDrained()
    }

    /// Sends GOAWAY at once. Streams above `lastStream` are cancelled; the others have their responses until the
    /// deadline for draining. After an earlier GOAWAY it does nothing unless it lowers the last stream.
    /// - Parameters:
    ///   - debugData: JSON with a `reason`, or plain text (reference 1.3).
    ///   - lastStream: By default the highest stream that the client has opened.
    package mutating func goAway(
        _ code: HTTP2ErrorCode,
        debugData: String,
        lastStream: UInt32? = nil,
        now: NIODeadline
    ) {
        guard self.phase != .finished else { return }
        let debugData = String(decoding: debugData.utf8.prefix(HTTP2ServerLimits.maximumDebugData), as: UTF8.self)
        // The last stream must not increase (RFC 9113 section 6.8).
        let earlier = self.shutdown.goAwayStreamID
        let last = min(lastStream ?? self.highestStreamID, earlier ?? HTTP2Constants.largestStreamID)
        guard last != earlier else { return }
        self.shutdown.goAwayStreamID = last
        self.shutdown.noticeEnds = nil
        self.output.writeGoAway(lastStreamID: last, code, debugData: debugData)
        self.forgetStreams { $0.id > last }
        if case .draining = self.phase {
        } else {
            self.phase = .draining(until: now + self.limits.drain)
        }
        self.shutdown.reason = HTTP2ConnectionEnd(code: code, text: debugData)
        self.finishIfDrained()
    }

    mutating func finishIfDrained() {
        guard self.streams.count == 0 else { return }
        switch self.phase {
        case .open, .draining:
            if self.shutdown.clientIsLeaving {
                return self.close(HTTP2ConnectionEnd(code: .noError, text: "the client has finished"))
            }
            guard case .draining = self.phase, self.shutdown.goAwayStreamID != nil else { return }
            self.close(HTTP2ConnectionEnd(code: .noError, text: Self.shutdownReason))
        case .waitingForPreface, .waitingForSettings, .finished: break
        }
    }

    /// Sends the outstanding responses, as far as the windows allow, to a client that has closed its half of the
    /// connection, then ends it.
    package mutating func inputClosed(now: NIODeadline) {
        switch self.phase {
        case .finished: return
        case .waitingForPreface, .waitingForSettings: return self.transportClosed()
        case .open: self.phase = .draining(until: now + self.limits.request)
        case .draining: break
        }
        self.shutdown.clientIsLeaving = true
        self.reader.discard()
        self.timers.unfinishedSince = nil
        // Without further DATA and WINDOW_UPDATE frames, incomplete requests and waiting bodies never end.
        self.forgetStreams { if case .awaitingResponse = $0.state { false } else { true } }
        self.finishIfDrained()
    }

    /// Ends the connection after the end of its transport.
    package mutating func transportClosed() {
        guard self.phase != .finished else { return }
        self.shutdown.reason = nil
        self.close(HTTP2ConnectionEnd(code: .noError, text: "the client closed the connection"))
    }

    /// Ends the connection at once, with a GOAWAY that gives the reason.
    package mutating func finish(_ code: HTTP2ErrorCode, _ text: String) {
        guard self.phase != .finished else { return }
        let earlier = self.shutdown.goAwayStreamID
        let last = min(self.highestStreamID, earlier ?? HTTP2Constants.largestStreamID)
        // A second GOAWAY only if it changes the code or the last stream.
        if code != .noError || last != earlier {
            self.output.writeGoAway(lastStreamID: last, code, debugData: text)
        }
        self.shutdown.reason = nil
        self.close(HTTP2ConnectionEnd(code: code, text: text))
    }
}
