import GRDB
import PushTypes

/// The recipients that wait for another try, within a transaction.
struct RetryQueue {
    // The due times of those that do not wait for a time, as the text of SQL has them. They are part of the statements'
    // text: the index of these recipients is used only for a constant.

    /// The due time of recipients that wait until all shards have been read.
    static let afterShards = Timestamp.afterShards.milliseconds

    /// The due time of recipients whose devices have left. They wait until all others have their final state, as their
    /// devices may come back. What waits for a time is due before this.
    static let afterOthers = Self.afterShards - 1

    /// The due time of recipients whose devices have left, once there are no others.
    static let departed: Int64 = 1

    let lane: NotificationRecord.Lane
    let now: Timestamp
    let database: Database
}
