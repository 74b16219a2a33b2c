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

    /// The number of concurrent streams announced in the first SETTINGS. Default 1000 (reference 7.10 row 6).
    package var streams = 1000
    /// The consequence of a request beyond the stream limit. By default the stream alone is refused.
    package var excess = Excess.refuseStream
    /// The time for the client's preface and first SETTINGS frame. Default 10 s.
    package var handshake: TimeAmount = .seconds(10)
    /// The time for the client's acknowledgement of SETTINGS. Default 30 s.
    package var settingsAcknowledgement: TimeAmount = .seconds(30)
    /// The time from the first frame of a request to its last, and from the first byte of a frame to its last. Default
    /// 30 s.
    package var request: TimeAmount = .seconds(30)
    /// The time without requests after which the connection ends. By default it never does.
    package var idle: TimeAmount?
    /// The silence before a PING. Default 30 min.
    package var keepAlive: TimeAmount = .minutes(30)
    /// The time from that PING to any frame. Default 20 s.
    package var keepAliveTimeout: TimeAmount = .seconds(20)
    /// The time for outstanding responses when the connection is to end. Default 5 s.
    package var drain: TimeAmount = .seconds(5)
    /// The time from the notice that the connection will end to the refusal of new requests, if the client does not
    /// acknowledge the notice sooner. Default 1 s.
    package var drainNotice: TimeAmount = .seconds(1)
    /// The time for which a client may not read its responses. Default 60 s.
    package var stall: TimeAmount = .seconds(60)

    /// The highest stream limit that is announced.
    package static let maximumStreams = 4096
    /// The number of streams that a client may open before it has acknowledged the first SETTINGS. Some clients assume
    /// 100 (reference 7.10 row 6).
    static let streamsBeforeAcknowledgement = 100
    /// The number of SETTINGS frames without acknowledgement. A newer limit waits for the acknowledgement of an older
    /// one.
    static let maximumUnacknowledged = 4
    /// The bytes of responses that wait for the client to read them.
    static let maximumOutput = 4 << 20
    /// The number of settings in one frame.
    static let maximumSettings = 32
    /// The debug data of a GOAWAY, in bytes.
    static let maximumDebugData = 1024
    /// The number of checks in a row that found late requests, without a complete request between them.
    static let maximumLateRequests = 3
    /// The number of streams that the server ended first and whose frames may still come.
    static let maximumEndedStreams = 1024
    /// The size in bytes under which a DATA frame counts as an idle frame, unless it ends the request.
    static let smallData = 256
    /// The idle frames that a stream without a response counts as.
    static let lostStreamCost = 5
    /// The number of streams whose windows a change of settings may move at the cost of one idle frame.
    static let streamsPerIdleFrame = 16
    /// The WINDOW_UPDATE frames that each DATA frame sent allows: for its stream and for the connection.
    static let updatesPerData = 2
    /// The largest number of WINDOW_UPDATE frames allowed in advance.
    static let maximumUpdates = 8192

    package init() {}
}
