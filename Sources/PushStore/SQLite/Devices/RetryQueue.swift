import GRDB
import ProviderModel
import PushTypes

/// Reads and writes the recipients that wait for another attempt, within a transaction.
struct RetryQueue {
    // The due times of recipients that do not wait for a time. Statements contain them as literals, because SQLite uses the
    // partial index of these recipients only with constants.

    /// The due time of recipients that wait until all shards have been read.
    static let afterShards = Timestamp.afterShards.milliseconds

    /// The due time of recipients whose devices have left. They wait until all others have their final states, because their
    /// devices may return. Recipients that wait for a time have lower values.
    static let afterOthers = Self.afterShards - 1

    /// The due time of recipients whose devices have left, once all others have their final states.
    static let departed: Int64 = 1

    let lane: NotificationRecord.Lane
    let now: Timestamp
    let database: Database
}
