/// The error of a whole request, in gorush's words.
enum GorushError: Error, Hashable, Sendable {
    /// There are no notifications, or some member has another type.
    case missing
    case empty
    case tooMany(Int, limit: Int)
    /// The tokens of all notifications are more than one request may have.
    case tooManyTokens(Int, limit: Int)

    var message: String {
        switch self {
        case .missing: "Missing notifications field."
        case .empty: "Notifications field is empty."
        case .tooMany(let count, let limit): "Number of notifications(\(count)) over limit(\(limit))"
        case .tooManyTokens(let count, let limit): "Number of tokens(\(count)) over limit(\(limit))"
        }
    }
}
