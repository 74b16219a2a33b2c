/// One entry of the feedback service's list: an app that is gone from a device (reference 6).
public struct FeedbackTuple: Hashable, Sendable {
    /// The time at which the push service noticed it, in UNIX seconds. A token that was registered again later is valid.
    public var seconds: UInt32
    /// The token to which no push should be sent any more.
    public var token: DeviceToken

    /// - Parameter seconds: The time in UNIX seconds, as it is on the wire.
    public init(seconds: UInt32, token: DeviceToken) {
        (self.seconds, self.token) = (seconds, token)
    }

    /// The time at which the push service noticed it.
    public var timestamp: Timestamp { Timestamp(seconds: Int64(self.seconds)) }
}
