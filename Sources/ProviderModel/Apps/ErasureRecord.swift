package import PushTypes

/// A user of an app, or a whole app, that is being erased.
package struct ErasureRecord: Hashable, Sendable {
    package var id: Int64
    package var app: Int64
    /// The user to erase, or `nil` for a whole app and once the rows have been deleted.
    package var user: String?
    /// The time of the request, by the steady clock.
    package var requestedAt: Timestamp
    /// A Boolean value that indicates whether all rows have been deleted, so that only their remains in the file have
    /// to be overwritten.
    package var isEmptied: Bool
    /// The number of the latest request that began or extended the erasure, from 1. Until ``answered`` reaches it, the
    /// erasure is in progress.
    package var request: Int64
    /// The number of the latest request to which the erasure was reported as complete, or 0 for none.
    package var answered: Int64

    package init(
        id: Int64,
        app: Int64,
        user: String? = nil,
        requestedAt: Timestamp,
        isEmptied: Bool,
        request: Int64,
        answered: Int64
    ) {
        (self.id, self.app, self.user, self.requestedAt) = (id, app, user, requestedAt)
        (self.isEmptied, self.request, self.answered) = (isEmptied, request, answered)
    }

    /// A Boolean value that indicates whether the erasure is in progress. Until it ends, a further request for the same
    /// user only returns its state.
    package var isUnderWay: Bool { self.answered < self.request }
}
