package import NIOCore

/// The limits and timeouts of a connection to a push service.
package struct HTTP2ClientLimits: Sendable {
    /// The client's own limit of requests in flight, besides the server's. Default 1000.
    package var maximumConcurrentStreams = 1000
    /// The time from the end of the TLS handshake to the server's first SETTINGS frame. Default 10 s.
    package var handshakeTimeout: TimeAmount = .seconds(10)
    /// The time from a request to its response. Default 30 s.
    package var responseTimeout: TimeAmount = .seconds(30)
    /// The silence before a PING while responses are outstanding. Default 10 s.
    package var pingAfter: TimeAmount = .seconds(10)
    /// The silence before a PING without requests in flight. Default 60 s.
    package var idlePingAfter: TimeAmount = .seconds(60)
    /// The time from a PING to any frame. Default 10 s.
    package var pingTimeout: TimeAmount = .seconds(10)
    /// The time for outstanding responses when the connection is to end. Default 30 s.
    package var drainTimeout: TimeAmount = .seconds(30)
    /// The largest response body, in bytes. Default 4096: error bodies have under 100.
    package var maximumResponseBody = 4096
    /// The first stream id. Only tests change it.
    package var firstStreamID: UInt32 = 1

    /// The largest header list of a request in bytes, so that it always fits one frame.
    static let maximumRequestHeaders = 15_000
    /// The number of settings in one frame.
    static let maximumSettings = 32
    /// The number of streams whose windows a change of settings may move at the cost of one idle frame.
    static let streamsPerIdleFrame = 16

    package init() {}
}
