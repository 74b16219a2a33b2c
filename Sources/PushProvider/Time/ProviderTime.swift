package import PushSupport
package import PushTypes

/// The clocks of a provider: the wall clock, and a steady clock that continues across restarts (see ``ClockStateMachine``).
package struct ProviderTime: TimeSource {
    private let base: any TimeSource
    /// The distance from the base's steady clock to this one.
    private let shift: Duration

    package init(_ base: any TimeSource, startingAt start: Timestamp) {
        self.base = base
        self.shift = start.since(base.steady)
    }

    package var now: Timestamp { self.base.now }
    package var steady: Timestamp { self.base.steady.advanced(by: self.shift) }
}
