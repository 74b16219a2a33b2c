import NIOCore
import PushWire

/// The whole answer to one request.
struct HTTP2Response: Hashable, Sendable {
    var head: ResponseHead
    /// Empty with status 200; the machine keeps at most ``HTTP2ClientLimits/maximumReplyBody`` bytes.
    var body: [UInt8] = []
}

/// A GOAWAY frame.
struct GoAway: Hashable, Sendable {
    /// Requests on higher streams were not processed.
    var lastStreamID: UInt32
    var code: UInt32
    /// Debug data: Apple sends JSON with a `reason`, or plain text (reference 1.3).
    var debugData: String
}

/// Why a request has no reply.
enum RequestFailure: Hashable, Sendable {
    /// The service announced that it had not taken the request.
    case goAway(GoAway)
    /// RST_STREAM with this code.
    case reset(UInt32)
    /// No reply within the deadline; other requests of the connection go on.
    case replyTimeout
    /// Nothing at all came any more, not even the answer to a PING.
    case silent
    /// The transport ended.
    case closed(String)
    /// The service broke the rules of HTTP/2.
    case violation(HTTP2ErrorCode, String)
    /// No SETTINGS frame within the deadline.
    case noHandshake
    /// What was in flight when the deadline for draining came.
    case drainTimeout
    /// More header bytes than the service or HTTP/2 allows; the same everywhere, so never sent.
    case headersTooLong
    /// A control character in `apns-id` or `apns-collapse-id`.
    case malformedHeader
}

/// What a connection has to say after an input.
enum HTTP2ClientEvent<Ticket> {
    /// The service's settings are known: requests may start.
    case ready
    case replied(Ticket, HTTP2Response)
    /// Certainly not processed.
    case notProcessed(Ticket, RequestFailure)
    /// Sent, and the reply will not come.
    case lost(Ticket, RequestFailure)
    /// No new requests on this connection; `nil` when the ids of its streams are used up or we drain it ourselves.
    case draining(GoAway?)
    /// Write what is left and close; `nil` after an orderly end.
    case finished(RequestFailure?)
}

/// Sizes and deadlines of a connection.
struct HTTP2ClientLimits: Sendable {
    /// Our own limit of requests in flight, besides the service's. Default 1000.
    var maximumConcurrentStreams = 1000
    /// Until the service's first SETTINGS frame, after TLS. Default 10 s.
    var handshakeTimeout: TimeAmount = .seconds(10)
    /// From a request to its reply. Default 30 s.
    var replyTimeout: TimeAmount = .seconds(30)
    /// Silence before a PING while replies are awaited. Default 10 s.
    var pingAfter: TimeAmount = .seconds(10)
    /// Silence before a PING without requests. Default 60 s.
    var idlePingAfter: TimeAmount = .seconds(60)
    /// From a PING to any sign of life. Default 10 s.
    var pingTimeout: TimeAmount = .seconds(10)
    /// For the replies that are still awaited when the connection is to end. Default 30 s.
    var drainTimeout: TimeAmount = .seconds(30)
    /// The first stream id: 1, except in tests.
    var firstStreamID: UInt32 = 1

    /// Of an error reply, in bytes; the real ones have under 100.
    static let maximumReplyBody = 4096
    /// Of one request's header list, in bytes, so that it always fits one frame.
    static let maximumRequestHeaders = 15_000
}
