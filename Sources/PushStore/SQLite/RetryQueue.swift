import PushTypes

/// The queue of recipients that are tried again.
enum RetryQueue {
    /// The due time, in the text of SQL, of recipients that wait for the end of the walk.
    ///
    /// It is part of the statements' text: the index of these recipients is used only for a constant.
    static let endOfWalk = Timestamp.endOfWalk.milliseconds

    /// The due time, in the text of SQL, of recipients whose devices have left.
    ///
    /// They wait until all others have their final state, as they may come back. What waits for a moment is due before this.
    static let endOfOthers = Self.endOfWalk - 1

    /// The due time, in the text of SQL, of recipients whose devices have left, once there are no others.
    static let departed: Int64 = 1
}
