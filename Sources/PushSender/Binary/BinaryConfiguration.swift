import PushSupport
public import PushTypes
import PushWire

/// The settings of a ``BinarySender``. The defaults suit Apple's former service and Martlet's gateway.
public struct BinaryConfiguration: Sendable {
    /// The format of the notifications. Default `framed`.
    public var command = BinaryCommand.framed
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

    /// Indicates whether waiting notifications fail with the first connection that cannot be opened. Default `false`.
    package var failsFast = false

    /// Makes a configuration of the defaults.
    public init() {}

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
