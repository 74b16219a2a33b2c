import PushTypes

/// An entry of a feedback list: the token of an app that was removed from a device (reference 6).
struct FeedbackEntry: Hashable, Sendable {
    var topic: Topic
    var token: DeviceToken
    /// The time at which the app was found to be removed. The wire format has whole seconds.
    var time: Timestamp

    /// The form on the wire.
    var tuple: FeedbackTuple { FeedbackTuple(seconds: UInt32(clamping: self.time.seconds), token: self.token) }
}
