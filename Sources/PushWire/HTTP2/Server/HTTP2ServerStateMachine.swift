package import NIOCore

/// A consequence of an input to ``HTTP2ServerStateMachine``.
package enum HTTP2ServerEvent: Sendable {
    /// The arrival of a complete request, which requires a response.
    case request(stream: UInt32, ProviderRequest)
    /// The event that the client no longer expects the response on this stream.
    case cancelled(stream: UInt32)
    /// The event that the output is to be written and the connection closed. No further events follow.
    case finished(HTTP2ConnectionEnd)
}

/// The reason why the server closes a connection.
package struct HTTP2ConnectionEnd: Hashable, Sendable {
    package var code: HTTP2ErrorCode
    /// The text for the log, which is also sent to the client as debug data.
    package var text: String
}

/// The server's side of a provider's HTTP/2 connection (RFC 9113), without I/O. Its inputs are bytes, responses and the
/// time. ``takeEvents(_:)`` and ``takeOutput()`` return the consequences. Each request gets a response, is cancelled,
/// or is lost with the connection. No input causes a trap: a violation of the protocol ends the stream or the
/// connection, as RFC 9113 requires.
package struct HTTP2ServerStateMachine: ~Copyable {
    /// The phase of the connection, from the handshake to the end.
    package enum Phase: Hashable, Sendable {
        case waitingForPreface
        case waitingForSettings
        case open
        /// The phase in which no new requests are taken, and outstanding responses are sent until the deadline.
        case draining(until: NIODeadline)
        case finished
    }

    /// The progress of the connection's shutdown, which announces the end before it refuses requests.
    struct Shutdown {
        /// The last stream id in the latest GOAWAY, or `nil` before the first one. Requests on later streams are
        /// ignored.
        var goAwayStreamID: UInt32?
        /// The time after which new requests are refused, unless the client acknowledges the first GOAWAY earlier, or
        /// `nil` if no refusal is pending.
        var noticeEnds: NIODeadline?
        /// A Boolean value that indicates whether the client will send no more requests. The last response then ends
        /// the connection.
        var clientIsLeaving = false
        /// The reason that was sent in a GOAWAY frame, or `nil` if none was sent.
        var reason: HTTP2ConnectionEnd?
    }

    /// The times from which the deadlines are computed.
    struct Timers {
        var handshakeDeadline: NIODeadline
        var lastReceived: NIODeadline
        var lastRequest: NIODeadline
        var lastCredit: NIODeadline
        /// The time at which the incomplete frame or header block began, or `nil` if there is none.
        var unfinishedSince: NIODeadline?
        var pingSent: NIODeadline?
        /// The time at which the client stopped reading responses, or `nil` while it reads.
        var stalledSince: NIODeadline?
        /// The time since which bodies have waited for a flow-control window without progress, or `nil` if none does.
        var windowlessSince: NIODeadline?
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
    /// The number of WINDOW_UPDATE frames that the client may send, in return for the DATA frames sent to it.
    var allowedUpdates = 0
    /// The number of streams that were examined because of changed windows or settings, which is work that a client can
    /// cause without a request. Only tests read it.
    var streamsVisited = 0
    var timers: Timers

    /// Creates the state machine, and writes the server's settings to its output (APNs reference 8.4).
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

    /// The number of requests that are incomplete or wait for their response.
    package var openStreams: Int { self.streams.count }

    package var hasFinished: Bool { self.phase == .finished }

    /// The memory that the connection occupies, in bytes: incomplete requests, frames and header blocks, dynamic
    /// tables, and unread responses.
    package var heldBytes: Int {
        self.incomplete.heldBytes + self.reader.heldBytes + self.output.readableBytes + self.unsent.byteCount
            + self.decoder.heldBytes + self.streams.capacity * Self.streamOverhead
    }

    /// The memory that an entry occupies in the tables of streams and of unsent bodies, in bytes.
    private static let streamOverhead = 64

    // MARK: Outputs

    /// Replaces the contents of `taken` with the events since the last call, in order. Its capacity is reused.
    package mutating func takeEvents(_ taken: inout [HTTP2ServerEvent]) {
        taken.removeAll(keepingCapacity: true)
        swap(&taken, &self.events)
    }

    package var hasOutput: Bool { self.output.readableBytes > 0 }

    package mutating func takeOutput() -> ByteBuffer {
        var output = ByteBuffer()
        swap(&output, &self.output)
        return output
    }

    /// Takes back a buffer that was written, to reuse its capacity for later output.
    package mutating func reuse(_ buffer: ByteBuffer) {
        if self.output.readableBytes == 0 { self.output = buffer }
    }

    mutating func add(_ event: HTTP2ServerEvent) { self.events.append(event) }

    /// Ends the connection. Its requests are lost, and ``HTTP2ServerEvent/finished(_:)`` replaces all pending events.
    private mutating func close(_ end: HTTP2ConnectionEnd) {
        self.phase = .finished
        self.streams = StreamTable()
        self.incomplete = IncompleteRequestTable()
        self.unsent = UnsentBodies()
        self.reader.discard()
        self.events = [.finished(self.shutdown.reason ?? end)]
    }
}

/// The sending of GOAWAY frames (RFC 9113 section 6.8), and the end of the connection.
extension HTTP2ServerStateMachine {
    /// The data of the PING frame that follows the first GOAWAY frame of ``drain(now:)``.
    static let drainPing: UInt64 = 0x6472_6169_0000_0000
    private static let shutdownReason = #"{"reason":"Shutdown"}"#

    /// Begins an orderly shutdown, which notifies the client, then refuses new requests, then waits for responses.
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

    /// Refuses new requests, because the client has had time to process the notice of the shutdown.
    mutating func refuseNewRequests() {
        guard self.shutdown.noticeEnds != nil else { return }
        self.shutdown.noticeEnds = nil
        self.shutdown.goAwayStreamID = self.highestStreamID
        self.output.writeGoAway(lastStreamID: self.highestStreamID, .noError, debugData: Self.shutdownReason)
        self.finishIfDrained()
    }

    /// Sends a GOAWAY frame immediately. Requests on streams above `lastStream` are cancelled. Responses to the others
    /// are sent until the deadline of the shutdown. After an earlier GOAWAY frame, the call has an effect only if it
    /// lowers the last stream.
    /// - Parameters:
    ///   - debugData: JSON with a `reason`, or plain text (APNs reference 1.3).
    ///   - lastStream: The last stream id, or `nil` for that of the highest stream that the client has opened.
    package mutating func goAway(
        _ code: HTTP2ErrorCode,
        debugData: String,
        lastStream: UInt32? = nil,
        now: NIODeadline
    ) {
        guard self.phase != .finished else { return }
        let debugData = String(decoding: debugData.utf8.prefix(HTTP2ServerLimits.maximumDebugData), as: UTF8.self)
        // The last stream id must not increase (RFC 9113 section 6.8).
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

    /// Handles the end of the client's input. Outstanding responses are still sent as far as the windows allow, and
    /// then the connection ends.
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
        // Incomplete requests and waiting bodies cannot finish without further DATA and WINDOW_UPDATE frames.
        self.forgetStreams { if case .awaitingResponse = $0.state { false } else { true } }
        self.finishIfDrained()
    }

    /// Ends the connection, because its transport was closed.
    package mutating func transportClosed() {
        guard self.phase != .finished else { return }
        self.shutdown.reason = nil
        self.close(HTTP2ConnectionEnd(code: .noError, text: "the client closed the connection"))
    }

    /// Ends the connection immediately, with a GOAWAY frame that contains the reason.
    package mutating func finish(_ code: HTTP2ErrorCode, _ text: String) {
        guard self.phase != .finished else { return }
        let earlier = self.shutdown.goAwayStreamID
        let last = min(self.highestStreamID, earlier ?? HTTP2Constants.largestStreamID)
        // A second GOAWAY frame is sent only if it changes the error code or the last stream.
        if code != .noError || last != earlier {
            self.output.writeGoAway(lastStreamID: last, code, debugData: text)
        }
        self.shutdown.reason = nil
        self.close(HTTP2ConnectionEnd(code: code, text: text))
    }
}

/// The deadlines of the connection. Only the earliest deadline of all requests is stored, and all requests are checked
/// when it is reached.
extension HTTP2ServerStateMachine {
    /// The minimum interval between two credits of the flood limiter.
    private static let creditInterval: TimeAmount = .milliseconds(250)

    /// The time at which to call ``tick(now:)``. A call may find that no deadline has passed yet.
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
            // The first check records the time, because no time is passed to the state machine with a response.
            next = min(next, self.timers.windowlessSince.map { $0 + self.limits.stall } ?? self.timers.lastReceived)
        }
        return next
    }

    /// The earlier of the deadlines for the next PING and for the idle timeout. A draining connection has neither.
    private var nextHealthCheck: NIODeadline {
        var next = NIODeadline.distantFuture
        if self.timers.pingSent == nil { next = self.timers.lastReceived + self.limits.keepAlive }
        if let idle = self.limits.idle, self.streams.count == 0 { next = min(next, self.timers.lastRequest + idle) }
        return next
    }

    /// Performs the actions for all deadlines that have passed.
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

    /// Records the time at which an incomplete frame or header block began.
    /// - Parameters:
    ///   - hasRest: Pass `true` if the last bytes belong to an incomplete frame.
    ///   - hasProgress: Pass `true` if a frame was completed since the last call.
    mutating func noteUnfinished(hasRest: Bool, hasProgress: Bool, now: NIODeadline) {
        if self.reader.isInsideHeaderBlock {
            self.timers.unfinishedSince = self.timers.unfinishedSince ?? now
        } else if !hasRest {
            self.timers.unfinishedSince = nil
        } else if hasProgress || self.timers.unfinishedSince == nil {
            self.timers.unfinishedSince = now
        }
    }

    /// Records whether the client reads its responses. A client that does not read for ``HTTP2ServerLimits/stall``
    /// loses the connection.
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

    /// Ends the connection if the client opens no flow-control window for waiting responses within
    /// ``HTTP2ServerLimits/stall``.
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
