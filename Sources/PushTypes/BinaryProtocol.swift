/// The three formats of notifications in the binary protocol, oldest first (APNs reference 5.1).
public enum BinaryCommand: UInt8, CaseIterable, Hashable, Sendable {
    /// Command 0, without an expiration or an identifier. After an error, the outcome of every notification on the
    /// connection is unknown.
    case simple = 0
    /// Command 1, which adds an expiration and an identifier.
    case enhanced = 1
    /// Command 2, which adds a priority.
    case framed = 2

    /// The maximum length of a payload, in bytes: 2,048 for command 2, and 256 for the older commands.
    public var maximumPayloadLength: Int { self == .framed ? 2048 : 256 }
}

extension PushType {
    /// A Boolean value that indicates whether pushes of the type can be sent over the binary protocol, which has no
    /// field for the push type. The service recognized alerts, background updates and device management messages by
    /// their payload.
    package var isCarriedByBinaryProtocol: Bool {
        switch self {
        case .alert, .background, .mdm, .voip, .complication: true
        case .controls, .fileprovider, .liveactivity, .location, .pushtotalk, .widgets: false
        }
    }
}

/// One entry of the feedback service's list: an app that was removed from a device (APNs reference 6).
public struct FeedbackTuple: Hashable, Sendable {
    /// The time at which the push service noticed that the app was removed, in UNIX seconds. A token that the app
    /// registers again later is valid nevertheless.
    public var seconds: UInt32
    /// The token to which no more pushes should be sent.
    public var token: DeviceToken

    /// Creates an entry.
    /// - Parameters:
    ///   - seconds: The time at which the service noticed that the app was removed, in UNIX seconds as in the binary
    ///     format.
    ///   - token: The token to which no more pushes should be sent.
    public init(seconds: UInt32, token: DeviceToken) { (self.seconds, self.token) = (seconds, token) }

    /// The time at which the push service noticed that the app was removed.
    public var timestamp: Timestamp { Timestamp(seconds: Int64(self.seconds)) }
}

/// The reason why the feedback service's list could not be read to its end.
public enum FeedbackError: Error, Hashable, Sendable {
    /// The error for bytes that are no list of tuples, because one states an invalid token length of `tokenLength`
    /// bytes.
    case malformed(tokenLength: Int)
    /// The error for an incomplete list: the connection closed within a tuple, or without the TLS closure alert.
    case truncated
    /// The error for a service that sent nothing within the time limit.
    case timedOut
    /// The error for a list that contains more tuples than the client accepts.
    case tooManyTuples
}
