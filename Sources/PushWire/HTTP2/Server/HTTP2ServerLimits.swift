package import NIOCore

/// The limits and timeouts of a provider's connection. They bound the memory that one connection can occupy. Each of at
/// most ``maximumStreams`` open streams has up to 8,000 bytes of header fields and ``ProviderRequest/maximumBody``
/// bytes of body while its request is incomplete. In addition, there are dynamic tables of 4 kB, an incomplete frame
/// and a header block of 32 kB, and ``maximumOutput`` bytes of responses.
package struct HTTP2ServerLimits: Sendable {
    /// The reaction to a request that exceeds the stream limit.
    package enum Excess: Sendable {
        /// A reaction that refuses only the stream. The client may send the request again (RFC 9113 section 8.7).
        case refuseStream
        /// A reaction that closes the connection, as Apple does (APNs reference 1.3).
        case endConnection
    }

    /// The maximum number of concurrent streams in the first SETTINGS. Default 1000 (APNs reference 7.10 row 6).
    package var streams = 1000
    /// The reaction to a request that exceeds the stream limit. By default, only the stream is refused.
    package var excess = Excess.refuseStream
    /// The maximum time until the client's preface and first SETTINGS frame have arrived. Default 10 s.
    package var handshake: TimeAmount = .seconds(10)
    /// The maximum time until the client acknowledges a SETTINGS frame. Default 30 s.
    package var settingsAcknowledgement: TimeAmount = .seconds(30)
    /// The maximum time from the first frame of a request to its last, and from the first byte of a frame to its last.
    /// Default 30 s.
    package var request: TimeAmount = .seconds(30)
    /// The time without requests after which the connection is closed. Default `nil`: idle connections stay open.
    package var idle: TimeAmount?
    /// The time without a frame from the client after which a PING is sent. Default 30 min.
    package var keepAlive: TimeAmount = .minutes(30)
    /// The maximum time from a PING to the next frame of any type. After that, the connection ends. Default 20 s.
    package var keepAliveTimeout: TimeAmount = .seconds(20)
    /// The maximum time for which a draining connection waits for responses. Default 5 s.
    package var drain: TimeAmount = .seconds(5)
    /// The time between the notice to the client that the connection will end and the refusal of new requests, unless
    /// the client acknowledges the notice earlier. Default 1 s.
    package var drainNotice: TimeAmount = .seconds(1)
    /// The maximum time for which a client may leave its responses unread before the connection ends. Default 60 s.
    package var stall: TimeAmount = .seconds(60)

    /// The maximum stream limit that can be announced.
    package static let maximumStreams = 4096
    /// The maximum number of streams before the client has acknowledged the first SETTINGS frame, because some clients
    /// assume 100 (APNs reference 7.10 row 6).
    fileprivate static let streamsBeforeAcknowledgement = 100
    /// The maximum number of unacknowledged SETTINGS frames. A newer limit waits until an older one is acknowledged.
    static let maximumUnacknowledged = 4
    /// The maximum number of response bytes that wait for the client. A response that exceeds it is replaced by
    /// RST_STREAM.
    static let maximumOutput = 4 << 20
    /// The maximum number of settings in a SETTINGS frame. More end the connection.
    static let maximumSettings = 32
    /// The maximum length of the debug data in a GOAWAY frame, in bytes. The rest is cut off.
    static let maximumDebugData = 1024
    /// The number of consecutive checks that find late requests, without a completed request in between, after which
    /// the connection ends.
    static let maximumLateRequests = 3
    /// The maximum number of remembered streams that the server ended before the client. The oldest are forgotten.
    static let maximumEndedStreams = 1024
    /// The length in bytes below which a DATA frame counts as an idle frame, unless it ends the request.
    static let smallData = 256
    /// The number of idle frames that are charged for a stream without a response.
    static let lostStreamCost = 5
    /// The number of open streams for which a SETTINGS frame that changes their windows counts as one idle frame.
    static let streamsPerIdleFrame = 16
    /// The number of WINDOW_UPDATE frames that the client may send for each DATA frame: one for the stream and one for
    /// the connection.
    static let updatesPerData = 2
    /// The maximum number of WINDOW_UPDATE frames that can be allowed in advance. Others are charged as idle frames.
    static let maximumUpdates = 8192

    package init() {}
}

/// The announced limits on concurrent streams, and the limit that the server enforces (RFC 9113 section 5.1.2). A limit
/// is enforced once the client has acknowledged it. Until then, the highest limit that the client may assume applies.
struct StreamLimit {
    private struct Announced {
        var streams: Int
        var deadline: NIODeadline
    }

    private var announced: [Announced]
    /// The stream limit that waits to be announced until an earlier one is acknowledged, or `nil` if none waits.
    private var next: Int?
    private var acknowledged = HTTP2ServerLimits.streamsBeforeAcknowledgement
    private(set) var current: Int

    /// Creates the limit `streams` of the first SETTINGS frame, which the client has to acknowledge by `deadline`.
    init(_ streams: Int, deadline: NIODeadline) {
        let streams = Self.clamp(streams)
        self.announced = [Announced(streams: streams, deadline: deadline)]
        self.current = max(streams, self.acknowledged)
    }

    static func clamp(_ streams: Int) -> Int { min(max(0, streams), HTTP2ServerLimits.maximumStreams) }

    /// The deadline for the acknowledgement of the oldest unacknowledged limit, or `nil` if all are acknowledged.
    var deadline: NIODeadline? { self.announced.first?.deadline }

    /// Changes the limit.
    /// - Returns: The limit to announce now, or `nil` if it is unchanged or must wait for an acknowledgement.
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

    /// Applies the client's acknowledgement of the oldest unacknowledged limit.
    /// - Returns: The limit to announce now, which has waited for this acknowledgement, or `nil` if none waits.
    mutating func acknowledge() -> Int? {
        guard !self.announced.isEmpty else { return nil }
        self.acknowledged = self.announced.removeFirst().streams
        self.current = self.announced.reduce(self.acknowledged) { max($0, $1.streams) }
        return self.next.take()
    }
}
