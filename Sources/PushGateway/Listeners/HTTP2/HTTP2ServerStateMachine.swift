import NIOCore
import PushWire

/// The gateway's end of one provider's HTTP/2 connection (RFC 9113), without I/O.
///
/// Bytes, answers and the time go in; ``output`` says what to write, ``takeRequests(_:)`` and ``takeCancelled()`` what
/// happened. Each request is answered, cancelled or lost with the connection. No input makes it trap: what breaks the
/// protocol ends the stream or the connection, as the RFC wants it.
struct HTTP2ServerStateMachine {
    enum Phase: Hashable {
        case waitingForPreface
        case waitingForSettings
        case open
        /// Streams are answered until then.
        case draining(until: NIODeadline)
        /// Write what is left and close.
        case finished
    }

    /// Why the connection ended.
    struct Ending: Hashable {
        var code: HTTP2ErrorCode
        /// For the log, and for the client as debug data.
        var text: String
    }

    /// A header block that is not complete yet.
    struct OpenBlock {
        var streamID: UInt32
        var endsStream: Bool
        var dependsOnItself: Bool
        var bytes: [UInt8]
    }

    /// A stream limit that the client has not confirmed.
    struct AnnouncedLimit {
        var streams: Int
        var deadline: NIODeadline
    }

    let limits: HTTP2ServerLimits
    /// To be written, in order. Whoever writes it empties it.
    var output: ByteBuffer
    var phase = Phase.waitingForPreface
    /// Known when the machine has finished.
    var ending: Ending?

    var requests: [(stream: UInt32, request: ProviderRequest)] = []
    var cancelled: [UInt32] = []

    var decoder = RequestHeaderDecoder()
    var encoder = ResponseEncoder()
    var streams = StreamTable<HTTP2ServerStream>()
    var incompleteRequests = SlotTable<IncompleteRequest>()
    /// Of streams whose answer waits for a window.
    var unsentBodies: [UInt32: ByteBuffer] = [:]
    var unsentBytes = 0
    /// Of these, the streams that wait for the connection's window alone, and perhaps some that have ended.
    var ready = CircularBuffer<UInt32>()
    /// WINDOW_UPDATE frames that the client may send because of what we have sent.
    var allowedUpdates = 0
    /// Streams looked at because a window or a setting changed: the work that a client can ask for without a request.
    var streamsVisited = 0
    /// Streams that we ended while the client had not; oldest first.
    var endedStreams = CircularBuffer<UInt32>()
    var highestStreamID: UInt32 = 0
    /// Of the last GOAWAY: requests on higher streams are not looked at any more.
    var goAwayStreamID: UInt32?
    /// The client asks nothing more: with the last answer the connection ends.
    var clientIsLeaving = false
    /// The client confirms the notice that the connection will end, or this time comes.
    var drainNoticeEnds: NIODeadline?
    var budget = HTTP2FloodLimiter()

    /// Bytes of an incomplete frame.
    var incomplete = ByteBuffer()
    /// Held by ``incompleteRequests``.
    var incompleteBytes = 0
    var openBlock: OpenBlock?

    // What the settings of both ends say, and the windows.
    var announced: [AnnouncedLimit] = []
    /// To be announced when the client has confirmed one of those before it.
    var nextLimit: Int?
    /// What the client has confirmed.
    var confirmedLimit = HTTP2ServerLimits.streamsBeforeAcknowledgement
    /// The limit that holds: the largest that the client may still believe in.
    var streamLimit: Int
    var peerInitialWindow = HTTP2Constants.defaultWindow
    var peerMaximumFrame = FrameHeader.defaultMaximumLength
    var sendWindow = HTTP2Constants.defaultWindow
    var receiveWindow = HTTP2Constants.connectionReceiveWindow

    // Times.
    var handshakeDeadline: NIODeadline
    var lastReceived: NIODeadline
    /// When the last request came to its end.
    var lastRequest: NIODeadline
    var lastCredit: NIODeadline
    /// No incomplete request is late before then.
    var requestCheck = NIODeadline.distantFuture
    /// Since when a frame or header block waits for its end.
    var unfinishedSince: NIODeadline?
    var pingSent: NIODeadline?
    /// Since when the client has not been reading.
    var stalledSince: NIODeadline?
    var lateRequests = 0

    /// Writes our settings (reference 8.4).
    init(limits: HTTP2ServerLimits, now: NIODeadline) {
        self.limits = limits
        let streams = Self.clamp(limits.streams)
        self.streamLimit = max(streams, self.confirmedLimit)
        self.announced = [AnnouncedLimit(streams: streams, deadline: now + limits.settingsAcknowledgement)]
        self.handshakeDeadline = now + limits.handshake
        self.lastReceived = now
        self.lastRequest = now
        self.lastCredit = now
        self.output = ByteBuffer()
        self.output.writeSettings([
            (.headerTableSize, UInt32(HTTP2Constants.headerTableSize)), (.maximumConcurrentStreams, UInt32(streams)),
            (.initialWindowSize, UInt32(HTTP2Constants.defaultWindow)),
            (.maximumFrameSize, UInt32(FrameHeader.defaultMaximumLength)),
            (.maximumHeaderListSize, UInt32(RequestHeaderDecoder.maximumListSize)),
        ])
        self.output.writeFrame(
            .windowUpdate,
            words: UInt32(HTTP2Constants.connectionReceiveWindow - HTTP2Constants.defaultWindow)
        )
    }

    /// Requests that are incomplete or await their answer.
    var openStreams: Int { self.streams.count }

    /// The bytes that the client makes the gateway keep: incomplete requests, frames and header blocks, header tables,
    /// answers that it has not taken.
    var heldBytes: Int {
        self.incompleteBytes + self.incomplete.storageCapacity + (self.openBlock?.bytes.count ?? 0)
            + self.output.readableBytes + self.unsentBytes + self.decoder.heldBytes
            + self.streams.capacity * Self.streamOverhead
    }

    /// Of a place in the tables of streams and of unsent bodies, in bytes.
    private static let streamOverhead = 64

    /// Requests completed since the last call, in order; `taken` gives its memory for the next ones.
    mutating func takeRequests(_ taken: inout [(stream: UInt32, request: ProviderRequest)]) {
        taken.removeAll(keepingCapacity: true)
        swap(&taken, &self.requests)
    }

    /// Streams whose answer nobody awaits any more, since the last call. Their requests came before.
    mutating func takeCancelled() -> [UInt32] {
        guard !self.cancelled.isEmpty else { return [] }
        defer { self.cancelled = [] }
        return self.cancelled
    }

    /// The transport ended.
    mutating func transportClosed() {
        guard self.phase != .finished else { return }
        self.forgetEverything()
        self.phase = .finished
        self.ending = Ending(code: .noError, text: "the client closed the connection")
    }

    static func clamp(_ streams: Int) -> Int {
        min(max(0, streams), HTTP2ServerLimits.maximumStreams)
    }
}
