/// The three formats of a notification in the binary protocol, oldest first (reference 5.1).
public enum BinaryCommand: UInt8, CaseIterable, Hashable, Sendable {
    /// Command 0, without expiration and identifier. Any error leaves all notifications on the connection unknown.
    case simple = 0
    /// Command 1, with expiration and identifier.
    case enhanced = 1
    /// Command 2, with priority.
    case framed = 2

    /// The size of the largest payload, in bytes.
    public var maximumPayloadLength: Int { self == .framed ? 2048 : 256 }
}
