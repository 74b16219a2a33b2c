import NIOCore
import PushWire

/// GOAWAY in all its forms (RFC 9113 section 6.8), and the end.
extension HTTP2ServerStateMachine {
    /// First half of the PING that follows the notice of an end.
    static let drainPing: UInt32 = 0x6472_6169
    private static let shutdown = #"{"reason":"Shutdown"}"#

    /// Ends the connection in order: tells the client, then takes no new requests, then waits for the answers.
    mutating func drain(now: NIODeadline) {
        switch self.phase {
        case .waitingForPreface, .waitingForSettings: self.finish(.noError, Self.shutdown)
        case .open:
            self.phase = .draining(until: now + self.limits.drain)
            self.drainNoticeEnds = now + self.limits.drainNotice
            self.output.writeGoAway(
                lastStreamID: HTTP2Constants.largestStreamID,
                .noError,
                debugData: Self.shutdown
            )
            self.output.write(FrameHeader(length: 8, type: .ping))
            self.output.writeMultipleIntegers(Self.drainPing, UInt32(0))
        case .draining, .finished: break
        }
    }

    /// The client has had time to read the notice: what it opens now is not looked at.
    mutating func refuseNewRequests(now: NIODeadline) {
        guard self.drainNoticeEnds != nil else { return }
        self.drainNoticeEnds = nil
        self.goAwayStreamID = self.highestStreamID
        self.output.writeGoAway(lastStreamID: self.highestStreamID, .noError, debugData: Self.shutdown)
        self.finishIfDrained()
    }

    /// GOAWAY at once. Streams above `lastStream` are forgotten unanswered; those up to it are answered until the
    /// deadline for draining. After an earlier one it does nothing, unless it lowers the last stream.
    /// - Parameters:
    ///   - debugData: JSON with a `reason`, or plain text (reference 1.3).
    ///   - lastStream: by default the highest that the client has opened.
    mutating func goAway(_ code: HTTP2ErrorCode, debugData: String, lastStream: UInt32? = nil, now: NIODeadline) {
        guard self.phase != .finished else { return }
        let debugData = String(decoding: debugData.utf8.prefix(HTTP2ServerLimits.maximumDebugData), as: UTF8.self)
        // It never goes up again (RFC 9113 section 6.8).
        let last = min(lastStream ?? self.highestStreamID, self.goAwayStreamID ?? HTTP2Constants.largestStreamID)
        guard last != self.goAwayStreamID else { return }
        self.goAwayStreamID = last
        self.drainNoticeEnds = nil
        self.output.writeGoAway(lastStreamID: last, code, debugData: debugData)
        for stream in self.streams.streams.filter({ $0.id > last }).sorted(by: { $0.id < $1.id }) {
            _ = self.streams.remove(stream.id)
            self.forget(stream)
        }
        if case .draining = self.phase {
        } else {
            self.phase = .draining(until: now + self.limits.drain)
        }
        self.ending = Ending(code: code, text: debugData)
        self.finishIfDrained()
    }

    mutating func finishIfDrained() {
        guard self.streams.count == 0 else { return }
        switch self.phase {
        case .open, .draining:
            if self.clientIsLeaving { return self.close(Ending(code: .noError, text: "the client has finished")) }
            guard case .draining = self.phase, self.goAwayStreamID != nil else { return }
            self.close(Ending(code: .noError, text: Self.shutdown))
        case .waitingForPreface, .waitingForSettings, .finished: break
        }
    }

    /// The client has closed its half: what it asked is answered, as far as its windows let it, then the connection ends.
    mutating func inputEnded(now: NIODeadline) {
        switch self.phase {
        case .finished: return
        case .waitingForPreface, .waitingForSettings: return self.transportClosed()
        case .open: self.phase = .draining(until: now + self.limits.request)
        case .draining: break
        }
        self.clientIsLeaving = true
        self.openBlock = nil
        self.incomplete = ByteBuffer()
        self.unfinishedSince = nil
        // No more DATA and no more WINDOW_UPDATE: neither those requests nor those answers come to their end.
        for stream in self.streams.streams {
            if case .awaitingAnswer = stream.state { continue }
            _ = self.streams.remove(stream.id)
            self.forget(stream)
        }
        self.finishIfDrained()
    }

    /// Ends everything, with a GOAWAY that says why.
    mutating func finish(_ code: HTTP2ErrorCode, _ text: String) {
        guard self.phase != .finished else { return }
        let last = min(self.highestStreamID, self.goAwayStreamID ?? HTTP2Constants.largestStreamID)
        // A second one only for what the first did not say.
        if code != .noError || last != self.goAwayStreamID {
            self.output.writeGoAway(lastStreamID: last, code, debugData: text)
        }
        self.ending = nil
        self.close(Ending(code: code, text: text))
    }

    private mutating func close(_ ending: Ending) {
        self.phase = .finished
        if self.ending == nil { self.ending = ending }
        self.forgetEverything()
    }

    mutating func forgetEverything() {
        self.streams = StreamTable()
        self.incompleteRequests = SlotTable()
        self.incompleteBytes = 0
        self.unsentBodies = [:]
        self.unsentBytes = 0
        self.ready = CircularBuffer()
        self.openBlock = nil
        self.incomplete = ByteBuffer()
        self.requests = []
        self.cancelled = []
    }
}
