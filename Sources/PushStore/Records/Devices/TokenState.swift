package import PushTypes

/// The state of a token of an app in one environment, by its device and by the pushes that named it.
package enum TokenState: Hashable, Sendable {
    /// Nothing is known, or nothing final.
    case unknown
    /// The push service accepted the newest push that has a final state.
    case reached
    /// The push service calls the token invalid for good.
    /// - Parameter at: The time of the response that said so; `nil` for the token of an inactive device.
    case invalid(at: Timestamp?)

    /// Returns `true` if the token is invalid for a caller that has had it since a time.
    package func isInvalid(since: Timestamp) -> Bool {
        guard case .invalid(let at) = self else { return false }
        return at.map { $0 >= since } ?? true
    }
}
