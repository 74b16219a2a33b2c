package import NIOCore

/// A consequence of an input to ``HTTP2ServerStateMachine``.
package enum HTTP2ServerEvent: Sendable {
    /// A request is complete and expects a response.
    case request(stream: UInt32, ProviderRequest)
    /// The client no longer expects the response to the request of this stream.
    case cancelled(stream: UInt32)
    /// Write the output and close. No events follow.
    case finished(HTTP2ConnectionEnd)
}

/// The reason for which the server ended a connection.
package struct HTTP2ConnectionEnd: Hashable, Sendable {
    package var code: HTTP2ErrorCode
    /// A text for the log, and for the client as debug data.
    package var text: String
}

/// The server's end of a provider's HTTP/2 connection (RFC 9113), without I/O.
///
/// Bytes, responses and the time are its inputs. ``takeEvents(_:)`` and ``takeOutput()`` return their consequences.
/// Each request is responded to, cancelled or lost with the connection. No input causes a trap: a violation of the
/// protocol ends the stream or the connection, as RFC 9113 demands.
package struct HTTP2ServerStateMachine: ~Copyable {
    /// The phase of the connection, from the handshake to the end.
    package enum Phase: Hashable, Sendable {
        case waitingForPreface
        case waitingForSettings
        case open
        /// The connection takes no new requests. Responses are sent until the deadline.
        case draining(until: NIODeadline)
        case finished
    }

    /// The steps towards the end of the connection.
    struct Shutdown {
        /// The last stream of the last GOAWAY. Requests on higher streams are ignored.
        var goAwayStreamID: UInt32?
        /// The time from which on new requests are refused, unless the client acknowledges the first GOAWAY sooner.
        var noticeEnds: NIODeadline?
        /// The client sends no more requests: the last response ends the connection.
        var clientIsLeaving = false
        /// The reason that a GOAWAY has given.
        var reason: HTTP2ConnectionEnd?
    }

    /// The times that the deadlines are counted from.
    struct Timers {
        var handshakeDeadline: NIODeadline
        var lastReceived: NIODeadline
        /// The time of the last complete request.
        var lastRequest: NIODeadline
        /// The time at which the flood limiter last earned frames.
        var lastCredit: NIODeadline
        /// The time since which a frame or header block waits for its end.
        var unfinishedSince: NIODeadline?
        var pingSent: NIODeadline?
        /// The time since which the client has not been reading.
        var stalledSince: NIODeadline?
        /// The time of the first check that found bodies without a window, none of which has been continued since.
        var windowlessSince: NIODeadline?
        /// The number of checks in a row that found late requests.
        var lateChecks = 0
    }

    let limits: HTTP2ServerLimits
    var phase = Phase.waitingForPreface
    private var events: [HTTP2ServerEvent] = []
    var output = ByteBuffer()
    var reader = HTTP2FrameReader()
    var decoder = HeaderBlockDecoder<RequestHead>()
    var encoder = ResponseEncoder()
    var streams = StreamTable<HTTP2ServerStream>()
    var highestStreamID: UInt32 = 0
    var endedStreams = EndedStreams()
    var incomplete = IncompleteRequestTable()
    var unsent = UnsentBodies()
    var streamLimit: StreamLimit
    var shutdown = Shutdown()
    var peer = HTTP2PeerSettings(of: .client)
    var sendWindow = HTTP2SendWindow()
    var receiveWindow = HTTP2ReceiveWindow(capacity: HTTP2Constants.connectionReceiveWindow)
    var floodLimiter = HTTP2FloodLimiter()
    /// The number of WINDOW_UPDATE frames that the client may send because of the DATA frames sent to it.
    var allowedUpdates = 0
    /// The number of streams visited because a window or a setting changed: the work that a client can cause without a
    /// request. Only tests read it.
    var streamsVisited = 0
    var timers: Timers

    /// Writes the server's settings to the output (reference 8.4).
    package init(limits: HTTP2ServerLimits, now: NIODeadline) {
        self.limits = limits
        self.streamLimit = StreamLimit(limits.streams, deadline: now + limits.settingsAcknowledgement)
        self.timers = Timers(
            handshakeDeadline: now + limits.handshake,
            lastReceived: now,
            lastRequest: now,
            lastCredit: now
        )
        self.output.writeSettings([
            (.headerTableSize, UInt32(HTTP2Constants.headerTableSize)),
            (.maximumConcurrentStreams, UInt32(StreamLimit.clamp(limits.streams))),
            (.initialWindowSize, UInt32(HTTP2Constants.defaultWindow)),
            (.maximumFrameSize, UInt32(FrameHeader.defaultMaximumLength)),
            (.maximumHeaderListSize, UInt32(RequestHead.maximumSize)),
        ])
        self.output.writeConnectionWindow()
    }

    /// The number of requests that are incomplete or expect their response.
    package var openStreams: Int { self.streams.count }

    package var hasFinished: Bool { self.phase == .finished }

    /// The memory that the connection holds, in bytes: incomplete requests, frames and header blocks, dynamic tables,
    /// unread responses.
    package var heldBytes: Int {
        self.incomplete.heldBytes + self.reader.heldBytes + self.output.readableBytes + self.unsent.byteCount
            + self.decoder.heldBytes + self.streams.capacity * Self.streamOverhead
    }

    /// The memory of one entry in the tables of streams and of unsent bodies, in bytes.
    private static let streamOverhead = 64

    // MARK: Outputs

    /// Returns the events since the last call, in order. The capacity of `taken` is reused.
    package mutating func takeEvents(_ taken: inout [HTTP2ServerEvent]) {
        taken.removeAll(keepingCapacity: true)
        swap(&taken, &self.events)
    }

    package var hasOutput: Bool { self.output.readableBytes > 0 }

    /// Returns the bytes to write, and empties the output.
    package mutating func takeOutput() -> ByteBuffer {
        var output = ByteBuffer()
        swap(&output, &self.output)
        return output
    }

    /// Reuses the capacity of `buffer` for the next output.
    package mutating func reuse(_ buffer: ByteBuffer) {
        if self.output.readableBytes == 0 { self.output = buffer }
    }

    mutating func add(_ event: HTTP2ServerEvent) { self.events.append(event) }

    /// Ends the connection. Its requests are lost, and its events are replaced by ``HTTP2ServerEvent/finished(_:)``.
    private mutating func close(_ end: HTTP2ConnectionEnd) {
        self.phase = .finished
        self.streams = StreamTable()
        self.incomplete = IncompleteRequestTable()
        self.unsent = UnsentBodies()
        self.reader.discard()
        self.events = [.finished(self.shutdown.reason ?? end)]
    }
}

/// GOAWAY (RFC 9113 section 6.8) and the end of the connection.
extension HTTP2ServerStateMachine {
    /// The data of the PING that follows the first GOAWAY of ``drain(now:)``.
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

    /// Sends GOAWAY at once. Streams above `lastStream` are cancelled; the others get their responses until the
    /// deadline for draining. A call after an earlier GOAWAY has no effect unless it lowers the last stream.
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

/// The deadlines. Only the earliest deadline of the requests is kept, so that a request costs no work. All requests are
/// checked when it is reached.
extension HTTP2ServerStateMachine {
    /// The interval at which the flood limiter earns frames.
    private static let creditInterval: TimeAmount = .milliseconds(250)

    /// The time at which to call ``tick(now:)``. The call may turn out to be too early.
    package var nextDeadline: NIODeadline {
        switch self.phase {
        case .finished: return .distantFuture
        case .waitingForPreface, .waitingForSettings: return self.timers.handshakeDeadline
        case .open: return min(self.nextCheck, self.nextHealthCheck)
        case .draining(let until): return min(until, self.shutdown.noticeEnds ?? until, self.nextCheck)
        }
    }

    private var nextCheck: NIODeadline {
        var next = self.incomplete.nextCheck
        if let deadline = self.streamLimit.deadline { next = min(next, deadline) }
        if let since = self.timers.unfinishedSince { next = min(next, since + self.limits.request) }
        if let since = self.timers.stalledSince { next = min(next, since + self.limits.stall) }
        if let sent = self.timers.pingSent { next = min(next, sent + self.limits.keepAliveTimeout) }
        if self.unsent.byteCount > 0 {
            // The first check notes the time, because a response passes no time to the state machine.
            next = min(next, self.timers.windowlessSince.map { $0 + self.limits.stall } ?? self.timers.lastReceived)
        }
        return next
    }

    /// The earliest deadline of a PING and of the idle timeout. A connection that drains has neither.
    private var nextHealthCheck: NIODeadline {
        var next = NIODeadline.distantFuture
        if self.timers.pingSent == nil { next = self.timers.lastReceived + self.limits.keepAlive }
        if let idle = self.limits.idle, self.streams.count == 0 { next = min(next, self.timers.lastRequest + idle) }
        return next
    }

    /// Performs what is due at the deadlines that have passed.
    package mutating func tick(now: NIODeadline) {
        switch self.phase {
        case .finished: return
        case .waitingForPreface, .waitingForSettings:
            if now >= self.timers.handshakeDeadline { self.finish(.settingsTimeout, "no SETTINGS in time") }
            return
        case .draining(let until) where now >= until:
            return self.finish(.noError, "not all responses were ready in time")
        case .draining, .open: break
        }
        if let end = self.shutdown.noticeEnds, now >= end { self.refuseNewRequests() }
        self.endLateRequests(now: now)
        self.checkWindows(now: now)
        self.checkClient(now: now)
        if self.phase == .open { self.checkHealth(now: now) }
    }

    mutating func noteReceived(_ now: NIODeadline) {
        self.timers.lastReceived = now
        self.timers.pingSent = nil
        if now >= self.timers.lastCredit + Self.creditInterval {
            self.timers.lastCredit = now
            self.floodLimiter.earn()
        }
    }

    /// Records since when a frame or a header block is incomplete.
    mutating func noteUnfinished(hasRest: Bool, hasProgress: Bool, now: NIODeadline) {
        if self.reader.isInsideHeaderBlock {
            self.timers.unfinishedSince = self.timers.unfinishedSince ?? now
        } else if !hasRest {
            self.timers.unfinishedSince = nil
        } else if hasProgress || self.timers.unfinishedSince == nil {
            self.timers.unfinishedSince = now
        }
    }

    /// Records whether the client reads its responses. ``HTTP2ServerLimits/stall`` counts while it does not.
    package mutating func setWritable(_ isWritable: Bool, now: NIODeadline) {
        self.timers.stalledSince = isWritable ? nil : self.timers.stalledSince ?? now
    }

    private mutating func endLateRequests(now: NIODeadline) {
        let late = self.incomplete.late(now: now)
        guard !late.isEmpty else { return }
        self.timers.lateChecks += 1
        for streamID in late { self.reset(streamID, .cancel) }
        if self.timers.lateChecks >= HTTP2ServerLimits.maximumLateRequests {
            self.finish(.enhanceYourCalm, "requests do not come to their end")
        }
    }

    /// Ends the connection of a client that opens no flow-control window for its responses in time.
    private mutating func checkWindows(now: NIODeadline) {
        guard self.unsent.byteCount > 0 else { return self.timers.windowlessSince = nil }
        let since = self.timers.windowlessSince ?? now
        self.timers.windowlessSince = since
        if now >= since + self.limits.stall { self.finish(.enhanceYourCalm, "responses have no window") }
    }

    private mutating func checkClient(now: NIODeadline) {
        if let deadline = self.streamLimit.deadline, now >= deadline {
            self.finish(.settingsTimeout, "SETTINGS not acknowledged in time")
        } else if let since = self.timers.unfinishedSince, now >= since + self.limits.request {
            self.finish(.enhanceYourCalm, "frame not complete in time")
        } else if let since = self.timers.stalledSince, now >= since + self.limits.stall {
            self.finish(.enhanceYourCalm, "responses are not read")
        } else if let sent = self.timers.pingSent, now >= sent + self.limits.keepAliveTimeout {
            self.finish(.noError, "no response to PING")
        }
    }

    private mutating func checkHealth(now: NIODeadline) {
        if let idle = self.limits.idle, self.streams.count == 0, now >= self.timers.lastRequest + idle {
            return self.goAway(.noError, debugData: #"{"reason":"IdleTimeout"}"#, now: now)
        }
        guard self.timers.pingSent == nil, now >= self.timers.lastReceived + self.limits.keepAlive else { return }
        self.timers.pingSent = now
        self.output.writePing(now.uptimeNanoseconds)
    }
}
