/// A consequence of an input to ``HTTP2ClientStateMachine``.
///
/// A ticket is the number that the caller gave to a request. Each request ends in exactly one event.
package enum HTTP2ClientEvent: Sendable {
    /// The server's settings are known: requests may start.
    case ready
    case response(ticket: Int, HTTP2Response)
    /// The request was certainly not processed.
    case notProcessed(ticket: Int, HTTP2RequestFailure)
    /// The request was sent, and its response will not arrive.
    case lost(ticket: Int, HTTP2RequestFailure)
    /// The connection takes no new requests. The GOAWAY is `nil` if the stream ids are used up or the client drains.
    case draining(GoAway?)
    /// Write the output and close. The failure is `nil` after an orderly end.
    case finished(HTTP2RequestFailure?)
}

/// A GOAWAY frame (RFC 9113 section 6.8).
package struct GoAway: Hashable, Sendable {
    /// The maximum number of bytes of debug data that are kept.
    static let maximumDebugData = 256

    /// The id of the highest stream that may have been processed.
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
    /// No response arrived before the deadline. Other requests of the connection continue.
    case responseTimeout
    /// The server sent nothing any more, not even the acknowledgement of a PING.
    case unresponsive
    /// The transport ended, for the reason in the text.
    case closed(String)
    /// The server broke a rule of HTTP/2, which the text describes.
    case violation(HTTP2ErrorCode, String)
    /// No SETTINGS frame arrived before the deadline.
    case handshakeTimeout
    /// The response did not arrive before the deadline for draining.
    case drainTimeout
    /// The headers exceed what the server or HTTP/2 allows. The request was never sent.
    case headersTooLong
    /// `apns-id` or `apns-collapse-id` contains a control character or has a space at an end. The request was never sent.
    case malformedHeader
}

/// The whole response to one request.
package struct HTTP2Response: Hashable, Sendable {
    package var head: ResponseHead
    /// The body, at most ``HTTP2ClientLimits/maximumResponseBody`` bytes. It is empty with status 200 of a push.
    package var body: [UInt8] = []
}

/// The header fields of a push service's response (reference 1.8).
package struct ResponseHead: Hashable, Sendable {
    /// The status, or 0 if `:status` is missing or not a number.
    package var status = 0
    /// The header `apns-id`, or `apns-request-id`, which takes its place for broadcasts and channels.
    package var id: String?
    /// The header `apns-unique-id`, or `apns-channel-id` of a new channel: no response has both.
    package var uniqueID: String?
    /// The header `retry-after`, as text.
    package var retryAfter: String?
}
