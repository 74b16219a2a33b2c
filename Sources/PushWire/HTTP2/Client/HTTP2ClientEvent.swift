/// A consequence of an input to ``HTTP2ClientStateMachine``.
///
/// Requests are named by the tickets that their caller gave them. Each ends in exactly one event.
package enum HTTP2ClientEvent: Sendable {
    /// The server's settings are known: requests may start.
    case ready
    case response(ticket: Int, HTTP2Response)
    /// The request was certainly not processed.
    case notProcessed(ticket: Int, HTTP2RequestFailure)
    /// The request was sent, and its response will not come.
    case lost(ticket: Int, HTTP2RequestFailure)
    /// The connection takes no new requests. The GOAWAY is `nil` if the stream ids are used up or the client drains.
    case draining(GoAway?)
    /// Write the output and close. The failure is `nil` after an orderly end.
    case finished(HTTP2RequestFailure?)
}

/// A GOAWAY frame (RFC 9113 section 6.8).
package struct GoAway: Hashable, Sendable {
    /// The bytes of debug data that are kept.
    static let maximumDebugData = 256

    /// The highest stream that may have been processed.
    package var lastStreamID: UInt32
    package var code: UInt32
    /// The debug data. Apple sends JSON with a `reason`, or plain text (reference 1.3).
    package var debugData: String

    package init(lastStreamID: UInt32, code: UInt32, debugData: String) {
        (self.lastStreamID, self.code, self.debugData) = (lastStreamID, code, debugData)
    }
}

/// The reason for which a request has no response.
package enum HTTP2RequestFailure: Hashable, Sendable {
    /// The server announced that it had not processed the request.
    case goAway(GoAway)
    /// The server reset the stream with this code.
    case reset(UInt32)
    /// No response came before the deadline. Other requests of the connection go on.
    case responseTimeout
    /// Nothing came any more, not even the acknowledgement of a PING.
    case unresponsive
    /// The transport ended.
    case closed(String)
    /// The server broke a rule of HTTP/2.
    case violation(HTTP2ErrorCode, String)
    /// No SETTINGS frame came before the deadline.
    case handshakeTimeout
    /// The deadline for draining came first.
    case drainTimeout
    /// The headers exceed what the server or HTTP/2 allows. The request was never sent.
    case headersTooLong
    /// `apns-id` or `apns-collapse-id` contains a control character or has a space at an end. The request was never sent.
    case malformedHeader
}
