/// The maximum delays of work that waits for a time. A longer stored delay is the result of a wrong clock.
package enum MaximumDelay {
    /// The maximum delay by back-off: 15 min. ``DispatchStore/settleWaiting(at:)`` shortens longer stored delays to it.
    package static let backoff: Duration = .seconds(15 * 60)
    /// The maximum delay of a recipient that waits for its send window: 26 h.
    package static let hours: Duration = .seconds(26 * 3600)
    /// The maximum delay of a time zone's shard after the opening: 50 h. The last zone begins 26 h after the first one,
    /// and its send window opens within another day.
    package static let zone: Duration = .seconds(50 * 3600)
}
