package import Foundation
package import PushTypes

/// The sessions that the provider keeps at chat servers for users.
package protocol ChatSessionStore: Sendable {
    /// Adds a session.
    /// - Parameters:
    ///   - perUser: The most sessions of its user.
    ///   - perApp: The most sessions of its app.
    func addChatSession(_ session: ChatSessionRecord, perUser: Int, perApp: Int) async throws
        -> ChatSessionAdditionResult
    /// Returns sessions of an app in the order in which they were added, without their passwords.
    /// - Parameters:
    ///   - user: The user whose sessions they are; `nil` for those of all users.
    ///   - after: The number of the last session of the page before; 0 for the first page.
    func chatSessions(app: Int64, user: String?, after: Int64, limit: Int) async throws -> [ChatSessionRecord]
    /// Returns a session with its password; `nil` if there is none.
    /// - Throws: An error also for a row whose password does not open.
    func chatSession(_ id: UUID) async throws -> ChatSessionRecord?
    /// Returns the versions of all active sessions.
    func activeChatSessions() async throws -> [ChatSessionKey]
    /// Changes the state of a session of an app. An active one forgets its last error.
    /// - Parameter password: The new password; `nil` leaves the present one.
    /// - Returns: The session as it is stored, without its password; `nil` if there is none.
    func setChatSessionState(
        _ state: ChatSessionRecord.State,
        of id: UUID,
        app: Int64,
        password: String?,
        now: Timestamp
    ) async throws -> ChatSessionRecord?
    /// Removes a session of an app.
    /// - Returns: `false` if the app has none with this id.
    func removeChatSession(_ id: UUID, app: Int64) async throws -> Bool
    /// Writes the progress of sessions in one transaction. That of a version which is no more, or is not active, is dropped.
    func noteChatSessions(_ progress: [ChatSessionKey: ChatSessionProgress]) async throws
}
