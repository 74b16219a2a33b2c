package import PushTypes

/// A user of an app, or a whole app, that is being erased.
package struct ErasureRecord: Hashable, Sendable {
    package var id: Int64
    package var app: Int64
    /// The user; `nil` for the whole app, and once the rows are gone.
    package var user: String?
    /// The time of the request, by the steady clock.
    package var requestedAt: Timestamp
    /// Indicates whether the rows are gone, and only the file has to be overwritten.
    package var isEmptied: Bool
    /// The number of the latest request that began it or extended it, from 1.
    package var request: Int64
    /// The latest request that was answered as complete; 0 for none.
    package var answered: Int64

    /// Indicates whether another request for the same user only asks for its state.
    package var isUnderWay: Bool { self.answered < self.request }
}
