package import NIOCore
package import PushTypes

/// The limits and timeouts of a connection to a push service.
package struct HTTP2ClientLimits: Sendable {
    /// The maximum number of requests in flight, unless the server's limit is lower. Default 1000.
    package var maximumConcurrentStreams = 1000
    /// The maximum time from the end of the TLS handshake to the server's first SETTINGS frame. Default 10 s.
    package var handshakeTimeout: TimeAmount = .seconds(10)
    /// The maximum time from a request to its response. Default 30 s.
    package var responseTimeout: TimeAmount = .seconds(30)
    /// The time without a frame after which a PING is sent while requests are in flight. Default 10 s.
    package var pingAfter: TimeAmount = .seconds(10)
    /// The time without a frame after which a PING is sent while no requests are in flight. Default 60 s.
    package var idlePingAfter: TimeAmount = .seconds(60)
    /// The maximum time from a PING to the next frame of any type. Default 10 s.
    package var pingTimeout: TimeAmount = .seconds(10)
    /// The maximum time for which a draining connection waits for responses. Default 30 s.
    package var drainTimeout: TimeAmount = .seconds(30)
    /// The maximum length of a response body, in bytes. A longer one is cut off. Default 4096, although error bodies
    /// have fewer than 100.
    package var maximumResponseBody = 4096
    /// The first stream id. Only tests change it.
    package var firstStreamID: UInt32 = 1

    /// The maximum size of a request's header list, in bytes. A request with a longer one fails. The limit ensures that
    /// a header block fits into a frame.
    static let maximumRequestHeaders = 15_000
    /// The maximum number of settings in one frame. More end the connection.
    static let maximumSettings = 32
    /// The number of open streams for which a SETTINGS frame that changes their windows counts as one idle frame
    /// (``HTTP2FloodLimiter``).
    static let streamsPerIdleFrame = 16

    package init() {}
}

/// The client's side of an HTTP/2 connection to a push service (RFC 9113), without I/O. Its inputs are bytes, requests
/// and the time. ``takeEvents(_:)`` and ``takeOutput()`` return the consequences. Each request finishes with exactly
/// one event. No input causes a trap: a violation of the protocol ends the connection.
package struct HTTP2ClientStateMachine: ~Copyable {
    /// The phase of the connection, from the handshake to the end.
    package enum Phase: Hashable, Sendable {
        case waitingForSettings
        case open
        case draining(until: NIODeadline)
        case finished
    }

    /// The times from which the deadlines are computed.
    struct Timers {
        var handshakeDeadline: NIODeadline
        var lastReceived: NIODeadline
        var pingSent: NIODeadline?
        var lastTick: NIODeadline
    }

    private let limits: HTTP2ClientLimits
    package private(set) var phase = Phase.waitingForSettings
    private var events: [HTTP2ClientEvent] = []
    var output: ByteBuffer
    var reader = HTTP2FrameReader()
    var encoder: RequestEncoder
    private var decoder = HeaderBlockDecoder<ResponseHeaderList>()
    var streams: HTTP2ClientStreamTable
    var peer = HTTP2PeerSettings(of: .server)
    private var sendWindow = HTTP2SendWindow()
    private var receiveWindow = HTTP2ReceiveWindow(capacity: HTTP2Constants.connectionReceiveWindow)
    private var floodLimiter = HTTP2FloodLimiter()
    var timers: Timers

    /// Creates the state machine, and writes the client's preface and settings to its output.
    /// - Parameter authority: The host name, followed by the port if it is not 443.
    package init(authority: String, limits: HTTP2ClientLimits, now: NIODeadline) {
        self.limits = limits
        self.encoder = RequestEncoder(authority: authority)
        let maximumBody = limits.maximumResponseBody
        self.streams = HTTP2ClientStreamTable(firstID: limits.firstStreamID, maximumBody: maximumBody)
        self.timers = Timers(handshakeDeadline: now + limits.handshakeTimeout, lastReceived: now, lastTick: now)
        self.output = ByteBuffer(string: HTTP2Constants.preface)
        var settings: [(HTTP2Setting, UInt32)] = [
            (.enablePush, 0), (.maximumHeaderListSize, UInt32(ResponseHeaderList.maximumSize)),
        ]
        // The windows of streams are never increased, because the initial window is large enough for a whole body.
        if maximumBody > HTTP2Constants.defaultWindow {
            settings.append((.initialWindowSize, UInt32(clamping: maximumBody)))
        }
        self.output.writeSettings(settings)
        self.output.writeConnectionWindow()
    }

    var hasFinished: Bool { self.phase == .finished }

    /// The number of requests whose responses are outstanding.
    package var openStreams: Int { self.streams.count }

    /// The number of requests that can currently be started.
    package var freeStreams: Int {
        guard self.phase == .open, self.sendWindow.size > 0 else { return 0 }
        let allowed = min(self.peer.maximumStreams, self.limits.maximumConcurrentStreams)
        return max(0, min(allowed - self.streams.count, self.streams.unusedIDs))
    }

    // MARK: Inputs

    /// Sets the provider token for all later requests, or removes it for `nil` if a certificate is used instead.
    package mutating func setProviderToken(_ token: String?) { self.encoder.setProviderToken(token) }

    /// Starts a request, which its event identifies by `ticket`. If no stream is free, the request finishes immediately
    /// with the event ``HTTP2ClientEvent/notProcessed(ticket:_:)``.
    package mutating func send(_ push: Push, ticket: Int, now: NIODeadline) {
        guard self.freeStreams > 0 else {
            return self.add(.notProcessed(ticket: ticket, .closed("no free stream")))
        }
        let maximumHeaders = min(self.peer.maximumHeaderListSize, HTTP2ClientLimits.maximumRequestHeaders)
        guard self.encoder.headerListSize(of: push) <= maximumHeaders else {
            return self.add(.notProcessed(ticket: ticket, .headersTooLong))
        }
        let notification = push.notification
        guard PushNotification.isHeaderValue(notification.id),
            notification.collapseID.map(PushNotification.isHeaderValue) ?? true
        else {
            return self.add(.notProcessed(ticket: ticket, .malformedHeader))
        }
        let id = self.openStream(ticket: ticket, now: now)
        let hasBody = notification.payload.readableBytes > 0
        let frame = self.output.beginHeaders(streamID: id, endsStream: !hasBody)
        self.encoder.encode(push, into: &self.output)
        self.output.endFrame(at: frame)
        if hasBody { self.sendBody(notification.payload, streamID: id) }
        if self.streams.unusedIDs == 0 { self.beginDraining(nil, now: now) }
    }

    /// Opens a stream for a request that is about to be written, and returns its id.
    mutating func openStream(ticket: Int, now: NIODeadline) -> UInt32 {
        self.streams.open(
            ticket: ticket,
            deadline: now + self.limits.responseTimeout,
            sendWindow: self.peer.initialWindow
        )
    }

    /// Starts `count` requests. The closure `request` returns the push and the ticket for each index from 0.
    package mutating func send(_ count: Int, now: NIODeadline, _ request: (Int) -> (Push, ticket: Int)) {
        for index in 0..<count {
            let (push, ticket) = request(index)
            self.send(push, ticket: ticket, now: now)
        }
    }

    /// Begins to drain the connection: it takes no new requests, and finishes with the last outstanding response, or at
    /// the deadline.
    package mutating func drain(now: NIODeadline) {
        switch self.phase {
        case .waitingForSettings: self.finish(nil)
        case .open: self.beginDraining(nil, now: now)
        case .draining, .finished: break
        }
    }

    /// Ends the connection, because its transport was closed.
    package mutating func transportClosed(_ description: String) {
        if case .draining = self.phase, self.streams.count == 0 { return self.finish(nil) }
        self.finish(.closed(description))
    }

    // MARK: Outputs

    /// Replaces the contents of `taken` with the events since the last call, in order. Its capacity is reused.
    package mutating func takeEvents(_ taken: inout [HTTP2ClientEvent]) {
        taken.removeAll(keepingCapacity: true)
        swap(&taken, &self.events)
    }

    package mutating func takeOutput() -> ByteBuffer {
        var output = ByteBuffer()
        swap(&output, &self.output)
        return output
    }

    /// Takes back a buffer that was written, to reuse its capacity for later output.
    package mutating func reuse(_ buffer: ByteBuffer) {
        if self.output.readableBytes == 0 { self.output = buffer }
    }

    mutating func add(_ event: HTTP2ClientEvent) { self.events.append(event) }

    // MARK: Ending

    private mutating func becomeOpen() {
        self.phase = .open
        self.add(.ready)
    }

    mutating func beginDraining(_ goAway: GoAway?, now: NIODeadline) {
        if case .draining = self.phase {
        } else {
            self.phase = .draining(until: now + self.limits.drainTimeout)
            self.add(.draining(goAway))
        }
        self.finishIfDrained()
    }

    private mutating func finishIfDrained() {
        guard case .draining = self.phase, self.streams.count == 0 else { return }
        self.finish(nil)
    }

    /// Ends the connection and all of its requests. Further calls have no effect.
    private mutating func finish(_ cause: HTTP2RequestFailure?) {
        guard self.phase != .finished else { return }
        self.phase = .finished
        var code = HTTP2ErrorCode.noError
        var text = ""
        if case .violation(let violation, let description) = cause { (code, text) = (violation, description) }
        self.output.writeGoAway(lastStreamID: 0, code, debugData: text)
        for (stream, response) in self.streams.removeAll() { self.end(stream, response, cause ?? .drainTimeout) }
        self.reader.discard()
        self.add(.finished(cause))
    }

    /// Reports the end of a request: with a response if there is one, or otherwise as lost or, if it was not sent
    /// completely, as not processed.
    private mutating func end(_ stream: HTTP2ClientStream, _ response: HTTP2Response?, _ cause: HTTP2RequestFailure) {
        if let response {
            self.add(.response(ticket: stream.ticket, response))
        } else if stream.isSent {
            self.add(.lost(ticket: stream.ticket, cause))
        } else {
            self.add(.notProcessed(ticket: stream.ticket, cause))
        }
    }
}

/// The frames of the connection: SETTINGS, PING and GOAWAY.
extension HTTP2ClientStateMachine: HTTP2Endpoint {
    /// Processes bytes from the server, which may be split at any point.
    package mutating func receive(_ bytes: ByteBuffer, now: NIODeadline) {
        guard self.phase != .finished else { return }
        self.timers.lastReceived = now
        self.timers.pingSent = nil
        var input = self.reader.append(bytes)
        do {
            let used = try self.receiveFrames(input.readableBytesUInt8Span, now: now)
            guard self.phase != .finished else { return }
            input.moveReaderIndex(forwardBy: used)
            self.reader.keep(&input)
        } catch {
            self.finish(.violation(error.code, error.description))
        }
    }

    mutating func receive(
        _ frame: HTTP2Frame,
        _ bytes: borrowing Span<UInt8>,
        now: NIODeadline
    ) throws(HTTP2ConnectionError) {
        switch frame.payload {
        case .headers(let block):
            try self.checkOpened(frame.streamID)
            if let block { try self.receiveBlock(block, bytes) }
        case .continuation(let block):
            try self.floodLimiter.spend()
            if let block { try self.receiveBlock(block, bytes) }
        case .data(let range): try self.receiveData(frame, bytes.extracting(range))
        case .resetStream(let code): try self.receiveReset(frame.streamID, code)
        case .settings(let range): try self.receiveSettings(bytes.extracting(range))
        case .windowUpdate(let increment): try self.receiveWindowUpdate(increment, streamID: frame.streamID)
        case .ping(let data):
            try self.floodLimiter.spend()
            self.output.writePing(data, flags: .acknowledgement)
        case .goAway(let last, let code, let debugData):
            try self.floodLimiter.spend()
            let end = min(debugData.upperBound, debugData.lowerBound + GoAway.maximumDebugData)
            let text = bytes.extracting(debugData.lowerBound..<end)
                .withUnsafeBufferPointer { String(decoding: $0, as: UTF8.self) }
            self.receiveGoAway(GoAway(lastStreamID: last, code: code, debugData: text), now: now)
        case .pushPromise: throw HTTP2ConnectionError(.protocolError, "PUSH_PROMISE in spite of ENABLE_PUSH 0")
        case .settingsAcknowledgement, .pingAcknowledgement, .priority, .unknown: try self.floodLimiter.spend()
        }
    }

    private mutating func receiveSettings(_ content: borrowing Span<UInt8>) throws(HTTP2ConnectionError) {
        try self.floodLimiter.spend()
        guard content.count / 6 <= HTTP2ClientLimits.maximumSettings else {
            throw HTTP2ConnectionError(.enhanceYourCalm, "too many settings")
        }
        try self.applySettings(content)
        if self.phase == .waitingForSettings { self.becomeOpen() }
        self.sendBlocked()
    }

    mutating func setTableSize(_ size: Int) { self.encoder.setTableSize(size) }

    /// Changes the send windows of all open streams, and charges the flood limiter in proportion to their number.
    mutating func changeWindows(by difference: Int) throws(HTTP2ConnectionError) {
        guard difference != 0 else { return }
        try self.floodLimiter.spend(self.streams.count / HTTP2ClientLimits.streamsPerIdleFrame)
        for position in 0..<self.streams.count where !self.streams[position].sendWindow.change(by: difference) {
            throw HTTP2ConnectionError(.flowControlError, "stream window over 2^31-1")
        }
    }

    /// Finishes the requests that the server has not processed, according to a GOAWAY frame, and begins to drain the
    /// connection (RFC 9113 section 6.8).
    private mutating func receiveGoAway(_ goAway: GoAway, now: NIODeadline) {
        for stream in self.streams.table.sorted(where: { $0.id > goAway.lastStreamID }) {
            let response = self.streams.remove(stream.id)?.response
            if response == nil {
                self.add(.notProcessed(ticket: stream.ticket, .goAway(goAway)))
            } else {
                self.end(stream, response, .goAway(goAway))
            }
        }
        self.beginDraining(goAway, now: now)
    }
}

/// The frames of a response: HEADERS with CONTINUATION, DATA and RST_STREAM.
extension HTTP2ClientStateMachine {
    private mutating func receiveBlock(
        _ block: HTTP2HeaderBlock,
        _ bytes: borrowing Span<UInt8>
    ) throws(HTTP2ConnectionError) {
        guard let range = block.range else {
            let gathered = self.reader.takeGatheredBlock()
            return try self.receiveHeaders(block, gathered.span)
        }
        try self.receiveHeaders(block, bytes.extracting(range))
    }

    /// Decodes a header block, even of a stream that has ended, because later blocks depend on the dynamic table.
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
            // The fields of trailers are ignored, but trailers must end the stream.
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

    private mutating func receiveData(_ frame: HTTP2Frame, _ data: borrowing Span<UInt8>) throws(HTTP2ConnectionError) {
        let id = frame.streamID
        try self.checkOpened(id)
        try self.receiveWindow.receiveOnConnection(frame.length, output: &self.output)
        guard self.streams.position(of: id) != nil else { return try self.floodLimiter.spend() }
        guard let fits = self.streams.appendBody(data, to: id) else { return self.reset(id, .protocolError) }
        if data.isEmpty, !frame.endsStream { try self.floodLimiter.spend() }
        if !fits { return self.reset(id, .cancel) }
        if frame.endsStream { self.complete(id) }
    }

    private mutating func receiveReset(_ streamID: UInt32, _ code: UInt32) throws(HTTP2ConnectionError) {
        try self.checkOpened(streamID)
        guard let (stream, response) = self.streams.remove(streamID) else { return try self.floodLimiter.spend() }
        if response == nil, code == HTTP2ErrorCode.refusedStream.rawValue {
            self.add(.notProcessed(ticket: stream.ticket, .reset(code)))
        } else {
            self.end(stream, response, .reset(code))
        }
        self.finishIfDrained()
    }

    /// Finishes a request whose response is complete. If the server responded before it had the whole request, the rest
    /// of the request is cancelled (RFC 9113 section 8.1).
    private mutating func complete(_ streamID: UInt32) {
        guard let (stream, response) = self.streams.remove(streamID) else { return }
        if !stream.isSent { self.output.writeReset(streamID, .cancel) }
        self.floodLimiter.earn()
        self.end(stream, response, .responseTimeout)
        self.finishIfDrained()
    }

    private mutating func reset(_ streamID: UInt32, _ code: HTTP2ErrorCode, cause: HTTP2RequestFailure? = nil) {
        guard let (stream, response) = self.streams.remove(streamID) else { return }
        self.output.writeReset(streamID, code)
        self.end(stream, response, cause ?? .violation(code, "malformed response"))
        self.finishIfDrained()
    }

    /// Throws an error if the stream was never opened (RFC 9113 section 5.1).
    private func checkOpened(_ streamID: UInt32) throws(HTTP2ConnectionError) {
        guard self.streams.hasOpened(streamID) else {
            throw HTTP2ConnectionError(.protocolError, "frame on a stream that was never opened")
        }
    }
}

/// The sending of bodies within the flow-control windows (RFC 9113 section 5.2).
extension HTTP2ClientStateMachine {
    /// Sends as much of a body as the windows allow, and retains the rest.
    mutating func sendBody(_ body: ByteBuffer, streamID: UInt32) {
        guard let position = self.streams.position(of: streamID) else { return }
        var rest = body
        _ = self.output.writeData(
            &rest,
            streamID: streamID,
            connectionWindow: &self.sendWindow,
            streamWindow: &self.streams[position].sendWindow,
            maximumFrameLength: self.peer.maximumFrameLength
        )
        self.streams.setUnsentBody(rest, at: position)
    }

    /// Continues to send the bodies that waited for a window, in the order in which their streams were opened.
    private mutating func sendBlocked() {
        guard self.sendWindow.size > 0 else { return }
        for id in self.streams.blockedStreams where self.sendWindow.size > 0 { self.sendRest(of: id) }
    }

    private mutating func sendRest(of streamID: UInt32) {
        guard let body = self.streams.unsentBody(of: streamID) else { return }
        self.sendBody(body, streamID: streamID)
    }

    private mutating func receiveWindowUpdate(_ increment: UInt32, streamID: UInt32) throws(HTTP2ConnectionError) {
        try self.floodLimiter.spend()
        if streamID == 0 {
            try self.sendWindow.increaseConnection(by: increment)
            return self.sendBlocked()
        }
        try self.checkOpened(streamID)
        guard let position = self.streams.position(of: streamID) else { return try self.floodLimiter.spend() }
        if let code = self.streams[position].sendWindow.increase(by: increment) {
            return self.reset(streamID, code)
        }
        if !self.streams[position].isSent { self.sendRest(of: streamID) }
    }
}

/// The deadlines of the handshake, of requests and of the PING.
extension HTTP2ClientStateMachine {
    /// The time between two ticks above which the process is assumed to have been suspended, so that deadlines are not
    /// checked.
    static var standstill: TimeAmount { .seconds(5) }

    /// Checks the deadlines. The handler calls it a few times per second.
    package mutating func tick(now: NIODeadline) {
        let hasStoodStill = now >= self.timers.lastTick + Self.standstill
        self.timers.lastTick = now
        // Bytes that arrived meanwhile are still unread, and a response among them is in time. Therefore only the next
        // tick applies the deadlines.
        guard !hasStoodStill else { return }
        switch self.phase {
        case .finished: return
        case .waitingForSettings where now >= self.timers.handshakeDeadline: return self.finish(.handshakeTimeout)
        case .draining(let until) where now >= until: return self.finish(.drainTimeout)
        case .waitingForSettings, .open, .draining: break
        }
        self.floodLimiter.earn()
        for stream in self.streams.table.sorted(where: { $0.deadline <= now }) {
            self.reset(stream.id, .cancel, cause: .responseTimeout)
        }
        if self.phase != .waitingForSettings { self.checkHealth(now: now) }
    }

    private mutating func checkHealth(now: NIODeadline) {
        guard self.phase != .finished else { return }
        if let sent = self.timers.pingSent {
            if now >= sent + self.limits.pingTimeout { self.finish(.unresponsive) }
            return
        }
        let patience = self.streams.count == 0 ? self.limits.idlePingAfter : self.limits.pingAfter
        guard now >= self.timers.lastReceived + patience else { return }
        self.timers.pingSent = now
        self.output.writePing(now.uptimeNanoseconds)
    }
}
