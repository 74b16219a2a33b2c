/// A consequence of an input to ``HTTP2ClientStateMachine``. A ticket is the number by which the caller identifies a
/// request. Exactly one event finishes each request.
package enum HTTP2ClientEvent: Sendable {
    /// The event that requests may start, because the server's settings have arrived.
    case ready
    case response(ticket: Int, HTTP2Response)
    /// The end of a request without a response, which the server has certainly not processed.
    case notProcessed(ticket: Int, HTTP2RequestFailure)
    /// The end of a request without a response, which the server may have processed.
    case lost(ticket: Int, HTTP2RequestFailure)
    /// The event that the connection takes no new requests. The GOAWAY frame that caused this is `nil` if the stream
    /// ids are used up, or if the client itself closes the connection.
    case draining(GoAway?)
    /// The event that the output is to be written and the connection closed. The failure is `nil` after a proper end.
    case finished(HTTP2RequestFailure?)
}

/// A GOAWAY frame (RFC 9113 section 6.8).
package struct GoAway: Hashable, Sendable {
    /// The maximum number of bytes of the frame's debug data that are stored. The rest is dropped.
    static let maximumDebugData = 256

    /// The highest id of a stream that the server may have processed.
    package var lastStreamID: UInt32
    package var code: UInt32
    /// The debug data. Apple sends JSON with a `reason`, or plain text (APNs reference 1.3).
    package var debugData: String

    package init(lastStreamID: UInt32, code: UInt32, debugData: String) {
        (self.lastStreamID, self.code, self.debugData) = (lastStreamID, code, debugData)
    }
}

/// The reason why a request has no response.
package enum HTTP2RequestFailure: Hashable, Sendable {
    /// The request has no response because the server has not processed it, as a GOAWAY frame states.
    case goAway(GoAway)
    /// The request has no response because the server reset the stream with this error code.
    case reset(UInt32)
    /// The request has no response because none arrived before the deadline. Other requests of the connection continue.
    case responseTimeout
    /// The request has no response because the server sent nothing more, not even the acknowledgement of a PING.
    case unresponsive
    /// The request has no response because the transport was closed, for the reason in the text.
    case closed(String)
    /// The request has no response because the server violated a rule of HTTP/2, which the text describes.
    case violation(HTTP2ErrorCode, String)
    /// The request has no response because no SETTINGS frame arrived before the deadline.
    case handshakeTimeout
    /// The request has no response because none arrived before the deadline of a draining connection.
    case drainTimeout
    /// The request was never sent, because its header list is longer than the server or HTTP/2 allows.
    case headersTooLong
    /// The request was never sent, because `apns-id` or `apns-collapse-id` has a control character, or a space at
    /// either end.
    case malformedHeader
}

/// The complete response to one request.
package struct HTTP2Response: Hashable, Sendable {
    package var head: ResponseHead
    /// The body, at most ``HTTP2ClientLimits/maximumResponseBody`` bytes. It is empty for an accepted push.
    package var body: [UInt8] = []
}

/// The header fields of a push service's response (APNs reference 1.8).
package struct ResponseHead: Hashable, Sendable {
    /// The HTTP status, or 0 if `:status` is missing or not a number.
    package var status = 0
    /// The value of `apns-id` or, in responses for broadcasts and channels, of `apns-request-id`. It is `nil` if the
    /// field is absent.
    package var id: String?
    /// The value of `apns-unique-id` or, for a new channel, of `apns-channel-id`, or `nil` if neither is present.
    package var uniqueID: String?
    /// The text of the field `retry-after`, or `nil` if it is absent.
    package var retryAfter: String?
}
