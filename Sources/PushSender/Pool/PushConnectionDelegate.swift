import PushTypes
import PushWire

/// The owner of a ``PushConnection``, which calls it on its event loop.
protocol PushConnectionDelegate: AnyObject, Sendable {
    /// The time of the wall clock.
    var wallTime: Timestamp { get }
    /// Called when the service's settings are known: the connection takes work.
    func connectionIsReady(_ id: Int)
    /// Appends up to `limit` pushes to send now, fewer if others wait for a share. The connection will be woken for more.
    func takeWork(_ id: Int, limit: Int, into tickets: inout [PushTicket])
    /// Returns the provider token for requests now, or `nil` with certificate trust.
    /// - Throws: The error of the cryptography library if it cannot sign.
    func providerToken(_ id: Int) throws -> String?
    /// Called after the first response that does not end the connection.
    func connectionIsConfirmed(_ id: Int)
    /// Called when the service has rejected a provider token as too old.
    func providerTokenExpired(_ id: Int, _ token: String)
    /// Takes back pushes that the service did not process, to be sent on this connection or another.
    func returnWork(_ tickets: [PushTicket], _ failure: Outcome.Failure)
    /// Called when the connection takes no more work.
    func connectionIsDraining(_ id: Int, _ goAway: GoAway?)
    /// Called at the end of the connection. The failure is `nil` after an orderly end.
    func connectionClosed(_ id: Int, _ failure: ConnectionFailure?)
}
