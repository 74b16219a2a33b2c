/// The present condition of a session that runs.
package struct ChatSessionCondition: Hashable, Sendable {
    package var status: ChatSessionStatus
    /// The last failure, until it is signed in again.
    package var lastError: String?
}
