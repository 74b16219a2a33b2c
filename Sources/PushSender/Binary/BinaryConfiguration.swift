import PushSupport
package import PushWire

/// The settings of a ``BinarySender``. The defaults suit Apple's former service and Martlet's gateway.
public struct BinaryConfiguration: Sendable {
    /// The three formats of a notification on the wire, oldest first (reference 5.1).
    public enum Format: CaseIterable, Hashable, Sendable {
        /// Command 0, without expiration and identifier. Any error leaves all notifications on the connection unknown.
        case simple
        /// Command 1, with expiration and identifier.
        case enhanced
        /// Command 2, with priority and payloads of up to 2,048 bytes. The others carry 256 bytes.
        case framed
    }

    /// The format of the notifications. Default ``Format/framed``.
    public var format = Format.framed
    /// The number of written notifications that can be sent again after an error packet. The oldest one above it counts
    /// as accepted. Default 8192.
    public var maximumWritten = 8192
    /// The number of notifications that may wait to be written; callers of `send` wait for the rest. Default 1024.
    public var maximumWaiting = 1024
    /// The time after which a written notification without an error packet counts as accepted. Default 1 s.
    public var quietPeriod: Duration = .seconds(1)
    /// The time from submission until a notification must be written, connecting included. Default 30 s.
    public var waitTimeout: Duration = .seconds(30)
    /// The upper limit of the delay after the first failed connection; it doubles with each further one. Default 500
    /// ms.
    public var reconnectBase: Duration = .milliseconds(500)
    /// The upper limit of every delay between connections. Default 1 min.
    public var reconnectMaximum: Duration = .seconds(60)

    /// Makes a configuration of the defaults.
    public init() {}

    package var command: BinaryCommand {
        switch self.format {
        case .simple: .simple
        case .enhanced: .enhanced
        case .framed: .framed
        }
    }

    var limits: BinaryClientStateMachine.Limits {
        var limits = BinaryClientStateMachine.Limits()
        limits.written = self.maximumWritten
        limits.waiting = self.maximumWaiting
        limits.quiet = self.quietPeriod
        limits.wait = self.waitTimeout
        return limits
    }

    var reconnect: Backoff { Backoff(base: self.reconnectBase, maximum: self.reconnectMaximum) }
}
