package import NIOCore

/// The limits and timeouts of a provider's connection.
///
/// They bound the memory that one connection can take in the gateway: its open streams (at most ``maximumStreams``),
/// each with up to 8,000 bytes of header fields and ``ProviderRequest/maximumBody`` bytes of body while the request is
/// incomplete; dynamic tables of 4 kB; one incomplete frame and one header block of 32 kB; ``maximumOutput`` bytes of
/// responses.
package struct HTTP2ServerLimits: Sendable {
    /// The consequence of a request beyond the stream limit.
    package enum Excess: Sendable {
        /// The stream alone is refused. The client may send the request again (RFC 9113 section 8.7).
        case refuseStream
        /// The connection ends, as at Apple (reference 1.3).
        case endConnection
    }

    /// The maximum number of concurrent streams that the first SETTINGS announces. Default 1000 (reference 7.10 row 6).
    package var streams = 1000
    /// The consequence of a request beyond the stream limit. By default the stream alone is refused.
    package var excess = Excess.refuseStream
    /// The longest time until the client's preface and first SETTINGS frame. Default 10 s.
    package var handshake: TimeAmount = .seconds(10)
    /// The longest time until the client acknowledges SETTINGS. Default 30 s.
    package var settingsAcknowledgement: TimeAmount = .seconds(30)
    /// The longest time from the first frame of a request to its last, and from the first byte of a frame to its last.
    /// Default 30 s.
    package var request: TimeAmount = .seconds(30)
    /// The time without requests after which the connection ends. By default it never does.
    package var idle: TimeAmount?
    /// The silence before a PING. Default 30 min.
    package var keepAlive: TimeAmount = .minutes(30)
    /// The longest time from that PING to any frame. Default 20 s.
    package var keepAliveTimeout: TimeAmount = .seconds(20)
    /// The longest time for which a draining connection waits for responses. Default 5 s.
    package var drain: TimeAmount = .seconds(5)
    /// The time from the notice that the connection will end to the refusal of new requests, if the client does not
    /// acknowledge the notice sooner. Default 1 s.
    package var drainNotice: TimeAmount = .seconds(1)
    /// The longest time for which a client may leave its responses unread. Default 60 s.
    package var stall: TimeAmount = .seconds(60)

    /// The highest stream limit that is announced.
    package static let maximumStreams = 4096
    /// The maximum number of streams that a client may open before it has acknowledged the first SETTINGS. Some clients
    /// assume 100 (reference 7.10 row 6).
    fileprivate static let streamsBeforeAcknowledgement = 100
    /// The maximum number of SETTINGS frames without acknowledgement. A newer limit waits for the acknowledgement of an
    /// older one.
    static let maximumUnacknowledged = 4
    /// The maximum number of response bytes that wait for the client to read them.
    static let maximumOutput = 4 << 20
    /// The maximum number of settings in one frame.
    static let maximumSettings = 32
    /// The maximum length of a GOAWAY's debug data, in bytes.
    static let maximumDebugData = 1024
    /// The maximum number of checks in a row that find late requests, without a complete request between them.
    static let maximumLateRequests = 3
    /// The maximum number of streams that are remembered because the server ended them first.
    static let maximumEndedStreams = 1024
    /// The length, in bytes, under which a DATA frame counts as an idle frame unless it ends the request.
    static let smallData = 256
    /// The number of idle frames that a stream without a response counts as.
    static let lostStreamCost = 5
    /// The number of streams whose windows a change of settings adjusts at the cost of one idle frame.
    static let streamsPerIdleFrame = 16
    /// The number of WINDOW_UPDATE frames that the client may send for each DATA frame: one for its stream and one for
    /// the connection.
    static let updatesPerData = 2
    /// The maximum number of WINDOW_UPDATE frames that are allowed in advance.
    static let maximumUpdates = 8192

    package init() {}
}

/// The limits of concurrent streams that a server has announced, and the one that it enforces (RFC 9113 section 5.1.2).
///
/// A limit is enforced once the client has acknowledged it. Until then the highest limit that the client may still
/// assume is enforced.
struct StreamLimit {
    /// A limit that the client has not acknowledged.
    private struct Announced {
        var streams: Int
        var deadline: NIODeadline
    }

    /// The limits that the client has not acknowledged, the oldest first.
    private var announced: [Announced]
    /// The limit to announce after the next acknowledgement.
    private var next: Int?
    private var acknowledged = HTTP2ServerLimits.streamsBeforeAcknowledgement
    /// The limit that is enforced.
    private(set) var current: Int

    /// - Parameter streams: The limit in the first SETTINGS.
    init(_ streams: Int, deadline: NIODeadline) {
        let streams = Self.clamp(streams)
        self.announced = [Announced(streams: streams, deadline: deadline)]
        self.current = max(streams, self.acknowledged)
    }

    static func clamp(_ streams: Int) -> Int { min(max(0, streams), HTTP2ServerLimits.maximumStreams) }

    /// The deadline of the oldest acknowledgement.
    var deadline: NIODeadline? { self.announced.first?.deadline }

    /// Changes the limit.
    /// - Returns: The limit to announce now, or `nil` if it is not new or has to wait for an acknowledgement.
    mutating func announce(_ streams: Int, deadline: NIODeadline) -> Int? {
        let streams = Self.clamp(streams)
        if self.announced.count >= HTTP2ServerLimits.maximumUnacknowledged {
            self.next = streams
            return nil
        }
        guard streams != self.announced.last?.streams ?? self.acknowledged else { return nil }
        self.announced.append(Announced(streams: streams, deadline: deadline))
        self.current = max(self.current, streams)
        return streams
    }

    /// Applies the client's acknowledgement of the oldest limit.
    /// - Returns: The limit that waited for this acknowledgement and is to be announced now.
    mutating func acknowledge() -> Int? {
        guard !self.announced.isEmpty else { return nil }
        self.acknowledged = self.announced.removeFirst().streams
        self.current = self.announced.reduce(self.acknowledged) { max($0, $1.streams) }
        return self.next.take()
    }
}
