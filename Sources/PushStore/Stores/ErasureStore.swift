package import PushTypes

/// The erasure of apps and users, with everything that is kept of them.
///
/// A request marks what has to go, in one transaction. The rows go in transactions of bounded size, and after a restart
/// too. At last the file is written anew, because SQLite leaves copies of rows in the free space of its pages.
package protocol ErasureStore: Sendable {
    /// Marks an app: its notifications end, its credentials are gone, and requests do not find it any more.
    /// - Returns: The erasure; `nil` if there is no such app.
    func eraseApp(_ app: Int64, now: Timestamp, steady: Timestamp) async throws -> ErasureRecord?
    /// Returns the erasure of an app that is marked; `nil` if none with this bundle id is.
    func erasure(ofApp bundleID: Topic) async throws -> ErasureRecord?
    /// Marks a user of an app, whether the user has devices or not.
    ///
    /// An erasure of the user that is under way stays as it is: what has come since its request is not part of it. Nor is a
    /// device that became the user's after it, whatever the clocks say. Once it was answered as complete
    /// (``noteAnswered(_:)``), it is extended to what there is now.
    func eraseUser(_ user: String, app: Int64, steady: Timestamp) async throws -> ErasureRecord
    /// Notes that the request of an erasure is answered as complete, unless it was extended since.
    func noteAnswered(_ erasure: ErasureRecord) async throws
    /// Returns all erasures that have not ended, the oldest first.
    func erasures() async throws -> [ErasureRecord]
    /// Erases some rows.
    /// - Returns: `true` if more rows remain.
    func continueErasure(_ erasure: ErasureRecord, now: Timestamp) async throws -> Bool
    /// Returns the tokens that the devices of a user have or had, erased or not yet; none for the erasure of an app.
    func tokens(of erasure: ErasureRecord) async throws -> Set<DeviceToken>
    /// Erases what notifications that were in progress have kept of erased users' time with a device, once they have ended.
    func eraseEnded(now: Timestamp) async throws
    /// Notes that all rows are gone, and forgets the name of the user. One that was extended since stays as it is.
    func finishErasure(_ erasure: ErasureRecord) async throws
    /// Writes the file anew and empties its log, and ends the erasures whose rows are gone.
    ///
    /// Other writers wait meanwhile. It needs as much free space as the database has.
    /// - Returns: `false` if a reader holds the log: the erasures stay for another attempt.
    func overwriteErased() async throws -> Bool
}
