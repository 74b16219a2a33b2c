package import NIOCore
package import PushTypes

/// The client's end of an HTTP/2 connection to a push service (RFC 9113), without I/O.
///
/// Bytes, requests and the time are its inputs. ``takeEvents(_:)`` and ``takeOutput()`` return their consequences. A
/// request ends in exactly one event. No input makes it trap: a violation of the protocol ends the connection.
package struct HTTP2ClientStateMachine: ~Copyable {
    /// The stage of the connection's life.
    package enum Phase: Hashable, Sendable {
        case waitingForSettings
        case open
        case draining(until: NIODeadline)
        case finished
    }

    /// The times that the deadlines are counted from.
    struct Timers {
        var handshakeDeadline: NIODeadline
        var lastReceived: NIODeadline
        var pingSent: NIODeadline?
        var lastTick: NIODeadline
    }

    let limits: HTTP2ClientLimits
    package private(set) var phase = Phase.waitingForSettings
    private var events: [HTTP2ClientEvent] = []
    var output: ByteBuffer
    var reader = HTTP2FrameReader()
    var encoder: RequestEncoder
    var decoder = HeaderBlockDecoder<ResponseHeaderList>()
    var streams: HTTP2ClientStreamTable
    var peer = HTTP2PeerSettings(of: .server)
    var sendWindow = HTTP2SendWindow()
    var receiveWindow = HTTP2ReceiveWindow(capacity: HTTP2Constants.connectionReceiveWindow)
    var floodLimiter = HTTP2FloodLimiter()
    var timers: Timers

    /// Writes the preface and the client's settings to the output.
    /// - Parameter authority: The host name, with the port if it is not 443.
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
        // The windows of streams are never increased: a whole body fits.
        if maximumBody > HTTP2Constants.defaultWindow {
            settings.append((.initialWindowSize, UInt32(clamping: maximumBody)))
        }
        self.output.writeSettings(settings)
        self.output.writeConnectionWindow()
    }

    var hasFinished: Bool { self.phase == .finished }

    /// The number of requests with their responses outstanding.
    package var openStreams: Int { self.streams.count }

    /// The number of requests that can start now.
    package var freeStreams: Int {
        guard self.phase == .open, self.sendWindow.size > 0 else { return 0 }
        let allowed = min(self.peer.maximumStreams, self.limits.maximumConcurrentStreams)
        return max(0, min(allowed - self.streams.count, self.streams.unusedIDs))
    }

    // MARK: Inputs

    /// Sets the provider token of the requests that start from now on. It is `nil` with certificate trust.
    package mutating func setProviderToken(_ token: String?) {
        self.encoder.setProviderToken(token)
    }

    /// Starts a request. Without a free stream it ends at once, as not processed.
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

    /// Opens a stream for a request.
    mutating func openStream(ticket: Int, now: NIODeadline) -> UInt32 {
        self.streams.open(
            ticket: ticket,
            deadline: now + self.limits.responseTimeout,
            sendWindow: self.peer.initialWindow
        )
    }

    /// Starts `count` requests; `request` returns the push and the ticket of each index.
    package mutating func send(_ count: Int, now: NIODeadline, _ request: (Int) -> (Push, ticket: Int)) {
        for index in 0..<count {
            let (push, ticket) = request(index)
            self.send(push, ticket: ticket, now: now)
        }
    }

    /// Takes no new requests. The connection finishes with the last response, or at the deadline.
    package mutating func drain(now: NIODeadline) {
        switch self.phase {
        case .waitingForSettings: self.finish(nil)
        case .open: self.beginDraining(nil, now: now)
        case .draining, .finished: break
        }
    }

    /// Ends the connection after the end of its transport.
    package mutating func transportClosed(_ description: String) {
        if case .draining = self.phase, self.streams.count == 0 { return self.finish(nil) }
        self.finish(.closed(description))
    }

    // MARK: Outputs

    /// Returns the events since the last call, in order. The capacity of `taken` is reused.
    package mutating func takeEvents(_ taken: inout [HTTP2ClientEvent]) {
        taken.removeAll(keepingCapacity: true)
        swap(&taken, &self.events)
    }

    /// Returns the bytes to write.
    package mutating func takeOutput() -> ByteBuffer {
        var output = ByteBuffer()
        swap(&output, &self.output)
        return output
    }

    /// Reuses the capacity of `buffer` for the next output.
    package mutating func reuse(_ buffer: ByteBuffer) {
        if self.output.readableBytes == 0 { self.output = buffer }
    }

    mutating func add(_ event: HTTP2ClientEvent) {
        self.events.append(event)
    }

    // MARK: Ending

    mutating func becomeOpen() {
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

    mutating func finishIfDrained() {
        guard case .draining = self.phase, self.streams.count == 0 else { return }
        self.finish(nil)
    }

    /// Ends the connection and with it every request. Does nothing the second time.
    mutating func finish(_ cause: HTTP2RequestFailure?) {
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

    /// Ends a request. A known status counts; a request that was not sent to its end was not processed.
    mutating func end(_ stream: HTTP2ClientStream, _ response: HTTP2Response?, _ cause: HTTP2RequestFailure) {
        if let response {
            self.add(.response(ticket: stream.ticket, response))
        } else if stream.isSent {
            self.add(.lost(ticket: stream.ticket, cause))
        } else {
            self.add(.notProcessed(ticket: stream.ticket, cause))
        }
    }
}
