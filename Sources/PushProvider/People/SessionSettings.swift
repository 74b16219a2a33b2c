package struct SessionSettings: Hashable, Sendable {
    /// The time without a request after which a session ends. Default 12 hours.
    package var idle: Duration = .seconds(12 * 3600)
    /// The maximum lifetime of a session, even if it is in use. Default 7 days.
    package var longest: Duration = .seconds(7 * 86_400)
    /// The minimum time between two writes of a session's last use: the shorter of a minute and a quarter of ``idle``.
    var useInterval: Duration { min(.seconds(60), self.idle / 4) }
    /// The time for which a link can be redeemed. Default 24 hours.
    package var link: Duration = .seconds(86_400)

    package init() {}
}
