/// What a connection tells and asks its pool. Called on the connection's event loop.
protocol ConnectionOwner: AnyObject, Sendable {
    /// The service's settings are there: it takes work.
    func connectionIsReady(_ id: Int)
    /// Up to `limit` pushes to send now. Fewer mean that no more are waiting: the connection will be woken.
    func takeWork(_ id: Int, limit: Int, into tickets: inout [PushTicket])
    /// The provider token for requests now, or `nil` with certificate trust.
    func providerToken(_ id: Int) throws -> String?
    /// The service answered a request for the first time, and not with the end of the connection.
    func connectionIsProven(_ id: Int)
    /// The service holds that this provider token is too old.
    func providerTokenExpired(_ id: Int, _ token: String)
    /// Pushes that the service did not take: to be sent again, on this connection or another.
    func giveBack(_ tickets: [PushTicket], _ failure: Outcome.Failure)
    /// Takes no more work.
    func connectionDrains(_ id: Int, _ goAway: GoAway?)
    /// Gone; `failure` is `nil` after an orderly end.
    func connectionClosed(_ id: Int, _ failure: ConnectionFailure?)
}
