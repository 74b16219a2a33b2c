/// A consequence of an input to ``HTTP2ServerStateMachine``.
package enum HTTP2ServerEvent: Sendable {
    /// A request is complete and expects a response.
    case request(stream: UInt32, ProviderRequest)
    /// The client no longer expects the response of the stream, whose request came before.
    case cancelled(stream: UInt32)
    /// Write the output and close. No events follow.
    case finished(HTTP2ConnectionEnd)
}

/// The reason for which the server ended a connection.
package struct HTTP2ConnectionEnd: Hashable, Sendable {
    package var code: HTTP2ErrorCode
    /// A text for the log, and for the client as debug data.
    package var text: String
}
