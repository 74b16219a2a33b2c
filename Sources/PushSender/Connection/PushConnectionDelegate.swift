import PushWire

/// The owner of a ``PushConnection``, which calls it on its event loop.
protocol PushConnectionDelegate: AnyObject, Sendable {
    /// The service's settings are known: the connection takes work.
    func connectionIsReady(_ id: Int)
    /// Appends up to `limit` pushes to send now. If there are fewer, none wait, and the connection will be woken.
    func takeWork(_ id: Int, limit: Int, into tickets: inout [PushTicket])
    /// Returns the provider token for requests now, or `nil` with certificate trust.
    /// - Throws: the error of the cryptography library if it cannot sign.
    func providerToken(_ id: Int) throws -> String?
    /// The server responded to a request for the first time, and did not end the connection with it.
    func connectionIsConfirmed(_ id: Int)
    /// The service rejected this provider token as too old.
    func providerTokenExpired(_ id: Int, _ token: String)
    /// Takes back pushes that the service did not process, to be sent on this connection or another.
    func returnWork(_ tickets: [PushTicket], _ failure: Outcome.Failure)
    /// The connection takes no more work.
    func connectionIsDraining(_ id: Int, _ goAway: GoAway?)
    /// The connection has ended. The failure is `nil` after an orderly end.
    func connectionClosed(_ id: Int, _ failure: ConnectionFailure?)
}
