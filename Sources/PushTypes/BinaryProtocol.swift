/// The three formats of a notification in the binary protocol, oldest first (reference 5.1).
public enum BinaryCommand: UInt8, CaseIterable, Hashable, Sendable {
    /// Command 0, without expiration and identifier. Any error leaves all notifications on the connection unknown.
    case simple = 0
    /// Command 1, with expiration and identifier.
    case enhanced = 1
    /// Command 2, with priority.
    case framed = 2

    /// The maximum length of a payload, in bytes.
    public var maximumPayloadLength: Int { self == .framed ? 2048 : 256 }
}

extension PushType {
    /// Indicates whether pushes of the type can be sent over the binary protocol, which has no field for the push type.
    ///
    /// The service recognized a push for an alert, a background update or a device management message by its payload.
    package var isCarriedByBinaryProtocol: Bool {
        switch self {
        case .alert, .background, .mdm, .voip, .complication: true
        case .controls, .fileprovider, .liveactivity, .location, .pushtotalk, .widgets: false
        }
    }
}

/// One entry of the feedback service's list: an app that is gone from a device (reference 6).
public struct FeedbackTuple: Hashable, Sendable {
    /// The time at which the push service noticed that the app is gone, in UNIX seconds. A token that was registered again
    /// later is valid.
    public var seconds: UInt32
    /// The token to which no push should be sent any more.
    public var token: DeviceToken

    /// - Parameter seconds: The time in UNIX seconds, as it is on the wire.
    public init(seconds: UInt32, token: DeviceToken) { (self.seconds, self.token) = (seconds, token) }

    /// The time at which the push service noticed that the app is gone.
    public var timestamp: Timestamp { Timestamp(seconds: Int64(self.seconds)) }
}

/// The reason for which a list of the feedback service ends early.
public enum FeedbackError: Error, Hashable, Sendable {
    /// The bytes are not a list of tuples.
    case malformed(tokenLength: Int)
    /// The connection ended within a tuple, or without the closure alert of TLS: the list was not complete.
    case truncated
    /// The service sent nothing for too long.
    case timedOut
    /// The list has more tuples than the client reads.
    case tooManyTuples
}
