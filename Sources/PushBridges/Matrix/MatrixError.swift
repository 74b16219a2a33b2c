import PushSupport

/// An error of the Matrix specification: `{"errcode":"M_…","error":"…"}`.
struct MatrixError: Error, Hashable, Sendable {
    /// The machine-readable code of an error.
    enum Code: String, Hashable, Sendable {
        case notJSON = "M_NOT_JSON"
        case badJSON = "M_BAD_JSON"
        case unrecognized = "M_UNRECOGNIZED"
        case limitExceeded = "M_LIMIT_EXCEEDED"
        case tooLarge = "M_TOO_LARGE"
        case unknown = "M_UNKNOWN"
    }

    /// The HTTP status of the response.
    let status: Int
    let code: Code
    /// The human-readable explanation. It contains no pushkey and no content.
    let message: String
    /// The time after which the request may succeed, or `nil` if it is not known.
    var delay: Duration?

    init(_ status: Int, _ code: Code, _ message: String, delay: Duration? = nil) {
        (self.status, self.code, self.message, self.delay) = (status, code, message, delay)
    }

    /// The error for a member whose type is not the `wanted` one.
    static func wrongType(_ member: String, _ wanted: String) -> MatrixError {
        MatrixError(400, .badJSON, "\(member) must be \(wanted)")
    }

    /// The error for a limit that the caller has reached.
    static func tooMany(_ message: String, delay: Duration? = nil) -> MatrixError {
        MatrixError(429, .limitExceeded, message, delay: delay)
    }

    /// The error for a budget that has nothing left for the caller.
    init(_ refusal: BudgetRefusal) { self = .tooMany(refusal.error.error.message, delay: refusal.delay) }

    /// The error for a setting of this provider that prevents the push at present.
    static func misconfigured(_ message: String) -> MatrixError { MatrixError(502, .unknown, message) }
}
