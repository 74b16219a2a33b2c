import ProviderModel
import PushTypes

/// Reads and writes the queue of recipients that wait for another attempt, within a transaction.
struct RetryQueue {
    // The due times that stand for a condition instead of a time. Statements contain them as literals, because SQLite
    // uses the partial index of such recipients only for constants.

    /// The due time of a recipient that waits until all shards have been read.
    static let afterShards = Timestamp.afterShards.milliseconds

    /// The due time of a recipient whose device was removed. It waits until all other recipients have their final
    /// states, because the device may return. Actual due times are lower.
    static let afterOthers = Self.afterShards - 1

    /// The due time of a recipient whose device was removed, once all other recipients have their final states. It is
    /// long past, so that the recipient is due.
    static let departed: Int64 = 1

    let lane: NotificationRecord.Lane
    let now: Timestamp
    let database: any SQLConnection
}
