import NIOCore

/// Sizes and deadlines of a provider's connection.
///
/// What one connection can make the gateway keep: its open streams (at most ``maximumStreams``), each with up to
/// 8,000 bytes of header fields and ``ProviderRequest/maximumBody`` bytes of body while the request is incomplete; header
/// tables of 4 kB; one incomplete frame and one header block of 32 kB; ``maximumOutput`` bytes of answers.
struct HTTP2ServerLimits: Sendable {
    /// What a request beyond the stream limit meets.
    enum Excess: Sendable {
        /// The stream alone is refused; the client may send the request again.
        case refuseStream
        /// The connection ends, as Apple does it (reference 1.3).
        case endConnection
    }

    /// Concurrent streams announced in the first SETTINGS. Default 1000 (reference 7.10 row 6).
    var streams = 1000
    /// Default: the stream alone is refused.
    var excess = Excess.refuseStream
    /// Until the client's preface and first SETTINGS frame. Default 10 s.
    var handshake: TimeAmount = .seconds(10)
    /// Until the client confirms our SETTINGS. Default 30 s.
    var settingsAcknowledgement: TimeAmount = .seconds(30)
    /// From the first frame of a request to its last, and from the first byte of a frame to its last. Default 30 s.
    var request: TimeAmount = .seconds(30)
    /// Without requests, until the connection ends. Default: never.
    var idle: TimeAmount?
    /// Silence before a PING. Default 30 min.
    var keepAlive: TimeAmount = .minutes(30)
    /// From that PING to any sign of life. Default 20 s.
    var keepAliveAnswer: TimeAmount = .seconds(20)
    /// For the answers that are still awaited when the connection is to end. Default 5 s.
    var drain: TimeAmount = .seconds(5)
    /// From the notice that the connection will end to the refusal of new requests, if the client does not confirm it
    /// sooner. Default 1 s.
    var drainNotice: TimeAmount = .seconds(1)
    /// For a client that does not read its answers. Default 60 s.
    var stall: TimeAmount = .seconds(60)

    /// No limit announced is higher.
    static let maximumStreams = 4096
    /// What clients may open before they have confirmed the first SETTINGS: some assume 100 (reference 7.10 row 6).
    static let streamsBeforeAcknowledgement = 100
    /// SETTINGS that wait to be confirmed at a time; newer limits wait until then.
    static let maximumUnacknowledged = 4
    /// Answers that wait for the client to take them, in bytes.
    static let maximumOutput = 4 << 20
    /// Settings in one frame.
    static let maximumSettings = 32
    /// Of the debug data of a GOAWAY, in bytes.
    static let maximumDebugData = 1024
    /// Looks at the clock at which requests were late, with no complete request between them.
    static let maximumLateRequests = 3
    /// Streams that we ended first and whose frames may still come.
    static let maximumEndedStreams = 1024
    /// A piece of a body under this size, in bytes, counts as an idle frame unless it is the last.
    static let smallData = 256
    /// What a stream that came to nothing takes from the flood budget.
    static let lostStreamCost = 5
    /// Streams whose windows a change of settings may move for the price of one idle frame.
    static let streamsPerIdleFrame = 16
    /// WINDOW_UPDATE frames that a DATA frame of ours allows: for its stream and for the connection.
    static let updatesPerData = 2
    /// Most of them that may be owed to the client.
    static let maximumUpdates = 8192
}
