/// The state of a ``Sender`` at one time.
public struct SenderStatistics: Hashable, Sendable {
    /// The number of connections that can take pushes.
    public var connections: Int
    /// The number of pushes that wait for a connection.
    public var waiting: Int
    /// The last failure of a connection, for people; `nil` before the first one.
    public var lastFailure: String?
}
