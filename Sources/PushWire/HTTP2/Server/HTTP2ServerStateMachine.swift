package import NIOCore

/// The server's end of a provider's HTTP/2 connection (RFC 9113), without I/O.
///
/// Bytes, responses and the time are its inputs. ``takeEvents(_:)`` and ``takeOutput()`` return their consequences.
/// Each request is responded to, cancelled or lost with the connection. No input makes it trap: a violation of the
/// protocol ends the stream or the connection, as RFC 9113 demands.
package struct HTTP2ServerStateMachine: ~Copyable {
    /// The stage of the connection's life.
    package enum Phase: Hashable, Sendable {
        case waitingForPreface
        case waitingForSettings
        case open
        /// Responses are sent until the deadline.
        case draining(until: NIODeadline)
        case finished
    }

    /// The steps towards the end of the connection.
    struct Shutdown {
        /// The last stream of the last GOAWAY. Requests on higher streams are ignored.
        var goAwayStreamID: UInt32?
        /// The time at which new requests are refused, unless the client acknowledges the notice sooner.
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
        /// The time of the first check that found bodies without a window, none of which has gone on since.
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

    /// The memory in bytes that the client makes the gateway hold: incomplete requests, frames and header blocks,
    /// dynamic tables, responses that it has not read.
    package var heldBytes: Int {
        self.incomplete.heldBytes + self.reader.heldBytes + self.output.readableBytes + self.unsent.byteCount
            + self.decoder.heldBytes + self.streams.capacity * Self.streamOverhead
    }

    /// The memory of a place in the tables of streams and of unsent bodies, in bytes.
    private static let streamOverhead = 64

    // MARK: Outputs

    /// Returns the events since the last call, in order. The capacity of `taken` is reused.
    package mutating func takeEvents(_ taken: inout [HTTP2ServerEvent]) {
        taken.removeAll(keepingCapacity: true)
        swap(&taken, &self.events)
    }

    package var hasOutput: Bool { self.output.readableBytes > 0 }

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

    mutating func add(_ event: HTTP2ServerEvent) {
        self.events.append(event)
    }

    /// Ends everything at once. The requests that were not taken are lost.
    mutating func close(_ end: HTTP2ConnectionEnd) {
        self.phase = .finished
        self.streams = StreamTable()
        self.incomplete = IncompleteRequestTable()
        self.unsent = UnsentBodies()
        self.reader.discard()
        self.events = [.finished(self.shutdown.reason ?? end)]
    }
}
