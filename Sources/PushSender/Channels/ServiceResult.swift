import PushWire

/// The result of a request to a push service that is no push.
enum ServiceResult: Sendable {
    case response(HTTP2Response)
    /// The push service did not process the request.
    case notSent(Outcome.Failure, mayRetry: Bool)
    /// The request was sent and its response did not arrive.
    case unknown(Outcome.Failure)
}
