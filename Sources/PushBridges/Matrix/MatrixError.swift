import PushSupport

/// An error in the format of the Matrix specification: `{"errcode":"M_…","error":"…"}`.
struct MatrixError: Error, Hashable, Sendable {
    enum Code: String, Hashable, Sendable {
        case notJSON = "M_NOT_JSON"
        case badJSON = "M_BAD_JSON"
        case unrecognized = "M_UNRECOGNIZED"
        case limitExceeded = "M_LIMIT_EXCEEDED"
        case tooLarge = "M_TOO_LARGE"
        case unknown = "M_UNKNOWN"
    }

    let status: Int
    let code: Code
    /// The human-readable explanation. It contains neither a pushkey nor message content.
    let message: String
    /// The time after which the homeserver may repeat the request, or `nil` if it is not known.
    var delay: Duration?

    init(_ status: Int, _ code: Code, _ message: String, delay: Duration? = nil) {
        (self.status, self.code, self.message, self.delay) = (status, code, message, delay)
    }

    /// The error for a member whose JSON type differs from the `wanted` one.
    static func wrongType(_ member: String, _ wanted: String) -> MatrixError {
        MatrixError(400, .badJSON, "\(member) must be \(wanted)")
    }

    /// The error for a limit that the caller has exceeded. `delay` is the time to wait, or `nil` if it is not known.
    static func tooMany(_ message: String, delay: Duration? = nil) -> MatrixError {
        MatrixError(429, .limitExceeded, message, delay: delay)
    }

    /// Creates the error for a budget that is exhausted for the caller.
    init(_ refusal: BudgetRefusal) { self = .tooMany(refusal.error.error.message, delay: refusal.delay) }

    /// The error for a provider configuration that currently prevents the push. The homeserver repeats the request.
    static func misconfigured(_ message: String) -> MatrixError { MatrixError(502, .unknown, message) }
}
