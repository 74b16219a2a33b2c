import NIOCore
import PushTypes
import PushWire

/// The provider's end of one HTTP/2 connection to a push service (RFC 9113), without I/O.
///
/// Bytes, requests and the time go in; ``takeEvents(_:)`` and ``output`` say what happened and what to write. A
/// request ends in exactly one event. No input makes it trap: what breaks the protocol ends the connection.
struct HTTP2ClientStateMachine<Ticket> {
    struct Stream: StreamTableEntry {
        let id: UInt32
        /// The caller's own mark of the request.
        let ticket: Ticket
        /// When waiting for the reply ends.
        let deadline: NIODeadline
        /// How much body the peer takes on this stream, in bytes; a change of settings can make it negative.
        var sendWindow: Int
        /// Whether the request has been sent to its end.
        var isSent: Bool
        /// Whether reply or body have parts that are kept aside.
        var hasParts = false
    }

    enum Phase: Hashable {
        case waitingForSettings
        case open
        case draining(until: NIODeadline)
        case finished
    }

    /// What of a reply or of a request is kept beside the stream, because it did not come or go at once.
    struct Parts {
        var head: ResponseHead?
        var body: [UInt8] = []
        var unsentBody: ByteBuffer?
    }

    /// A header block that is not complete yet.
    struct OpenBlock {
        var streamID: UInt32
        var endsStream: Bool
        var bytes: [UInt8]
    }

    let limits: HTTP2ClientLimits
    /// To be written, in order. Whoever writes it empties it.
    var output: ByteBuffer
    var events: [HTTP2ClientEvent<Ticket>] = []
    var phase = Phase.waitingForSettings
    var encoder: RequestEncoder
    var decoder = ResponseHeaderDecoder()
    var streams = StreamTable<Stream>()
    var parts: [UInt32: Parts] = [:]
    /// Streams with unsent body.
    var blocked: Set<UInt32> = []
    var nextStreamID: UInt32
    var budget = HTTP2FloodLimiter()

    /// Bytes of an incomplete frame.
    var incomplete = ByteBuffer()
    var openBlock: OpenBlock?

    // What the service's settings say, and the windows.
    var peerMaximumStreams = 0
    var peerInitialWindow = HTTP2Constants.defaultWindow
    var peerMaximumFrame = FrameHeader.defaultMaximumLength
    var peerHeaderTable = RequestEncoder.maximumTableSize
    var peerMaximumHeaderList = Int.max
    var sendWindow = HTTP2Constants.defaultWindow
    var receiveWindow = HTTP2Constants.connectionReceiveWindow

    var handshakeDeadline: NIODeadline
    var lastReceived: NIODeadline
    var pingSent: NIODeadline?
    var lastTick: NIODeadline

    /// Writes the preface and our settings.
    init(authority: String, limits: HTTP2ClientLimits, now: NIODeadline) {
        self.limits = limits
        self.encoder = RequestEncoder(authority: authority)
        self.nextStreamID = limits.firstStreamID | 1
        self.handshakeDeadline = now + limits.handshakeTimeout
        self.lastReceived = now
        self.lastTick = now
        self.output = ByteBuffer(string: HTTP2Constants.preface)
        self.output.writeSettings([
            (.enablePush, 0), (.maximumHeaderListSize, UInt32(ResponseHeaderDecoder.maximumListSize)),
        ])
        self.output.writeFrame(
            .windowUpdate,
            words: UInt32(HTTP2Constants.connectionReceiveWindow - HTTP2Constants.defaultWindow)
        )
    }

    /// Requests that await their reply.
    var openStreams: Int { self.streams.count }

    /// How many requests can start now.
    var freeStreams: Int {
        guard self.phase == .open, self.sendWindow > 0 else { return 0 }
        let allowed = min(self.peerMaximumStreams, self.limits.maximumConcurrentStreams)
        let ids = Int((HTTP2Constants.largestStreamID - self.nextStreamID) / 2) + 1
        return max(0, min(allowed - self.streams.count, ids))
    }

    /// The provider token of the requests that start from now on; `nil` with certificate trust.
    mutating func setProviderToken(_ token: String?) {
        self.encoder.setProviderToken(token)
    }

    /// Starts a request. Only when ``freeStreams`` is not 0; otherwise the push counts as not processed.
    mutating func send(_ push: Push, ticket: Ticket, now: NIODeadline) {
        guard self.freeStreams > 0 else {
            return self.events.append(.notProcessed(ticket, .closed("no free stream")))
        }
        guard self.encoder.headerListSize(of: push) <= self.maximumHeaderList else {
            return self.events.append(.notProcessed(ticket, .headersTooLong))
        }
        guard Self.isPlain(push.notification.id), push.notification.collapseID.map(Self.isPlain) ?? true else {
            return self.events.append(.notProcessed(ticket, .malformedHeader))
        }
        let id = self.nextStreamID
        self.nextStreamID = id &+ 2
        let body = push.notification.payload
        let start = self.output.writerIndex
        self.output.write(
            FrameHeader(
                length: 0,
                type: .headers,
                flags: body.readableBytes == 0 ? [.endHeaders, .endStream] : .endHeaders,
                streamID: id
            )
        )
        self.encoder.encode(push, into: &self.output)
        self.output.setFrameLength(self.output.writerIndex - start - FrameHeader.length, at: start)
        self.streams.insert(
            Stream(
                id: id,
                ticket: ticket,
                deadline: now + self.limits.replyTimeout,
                sendWindow: self.peerInitialWindow,
                isSent: true
            )
        )
        if body.readableBytes > 0 { self.sendBody(body, streamID: id) }
        if self.nextStreamID > HTTP2Constants.largestStreamID { self.beginDraining(nil, now: now) }
    }

    /// Starts many requests, whose pushes and tickets `start` names one after the other.
    mutating func sendAll(_ count: Int, now: NIODeadline, _ start: (Int) -> (Push, Ticket)) {
        for index in 0..<count {
            let (push, ticket) = start(index)
            self.send(push, ticket: ticket, now: now)
        }
    }

    /// Takes no new requests; the connection finishes when the replies are there, or at the deadline.
    mutating func drain(now: NIODeadline) {
        switch self.phase {
        case .waitingForSettings: self.finish(nil)
        case .open: self.beginDraining(nil, now: now)
        case .draining, .finished: break
        }
    }

    /// The transport ended, for whatever reason.
    mutating func transportClosed(_ description: String) {
        guard self.phase != .finished else { return }
        if case .draining = self.phase, self.streams.count == 0 { return self.finish(nil) }
        self.finish(.closed(description))
    }

    /// Appends what happened since the last call, in order, to `taken`.
    mutating func takeEvents(_ taken: inout [HTTP2ClientEvent<Ticket>]) {
        if taken.isEmpty {
            swap(&taken, &self.events)
        } else {
            taken += self.events
            self.events.removeAll(keepingCapacity: true)
        }
    }

    /// Whether no control character would break the request.
    private static func isPlain(_ value: String) -> Bool {
        value.utf8.allSatisfy { $0 >= 0x20 && $0 != 0x7f }
    }

    private var maximumHeaderList: Int {
        min(self.peerMaximumHeaderList, HTTP2ClientLimits.maximumRequestHeaders)
    }

    /// Forgets a stream; its parts are the caller's.
    mutating func removeStream(_ id: UInt32) -> Stream? {
        guard let stream = self.streams.remove(id) else { return nil }
        if !stream.isSent { self.blocked.remove(id) }
        return stream
    }

    // MARK: Ending

    mutating func beginDraining(_ goAway: GoAway?, now: NIODeadline) {
        if case .draining = self.phase {
        } else {
            self.phase = .draining(until: now + self.limits.drainTimeout)
            self.events.append(.draining(goAway))
        }
        self.finishIfDrained()
    }

    mutating func finishIfDrained() {
        guard case .draining = self.phase, self.streams.count == 0 else { return }
        self.finish(nil)
    }

    /// Ends everything: who waits for a reply hears that there will be none.
    mutating func finish(_ cause: RequestFailure?) {
        guard self.phase != .finished else { return }
        self.phase = .finished
        var code = HTTP2ErrorCode.noError
        var text = ""
        if case .violation(let violation, let description) = cause { (code, text) = (violation, description) }
        self.output.writeGoAway(lastStreamID: 0, code, debugData: text)
        for stream in self.streams.removeAll() {
            self.end(stream, parts: self.parts.removeValue(forKey: stream.id), cause ?? .drainTimeout)
        }
        self.blocked = []
        self.openBlock = nil
        self.incomplete.clear()
        self.events.append(.finished(cause))
    }

    /// Gives up one stream: a status that is known counts, a request that was not sent to its end was not processed.
    mutating func end(_ stream: Stream, parts: Parts?, _ cause: RequestFailure) {
        if let head = parts?.head {
            self.events.append(.replied(stream.ticket, HTTP2Response(head: head, body: parts?.body ?? [])))
        } else if stream.isSent {
            self.events.append(.lost(stream.ticket, cause))
        } else {
            self.events.append(.notProcessed(stream.ticket, cause))
        }
    }
}
