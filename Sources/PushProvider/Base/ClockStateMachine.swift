package import PushStore
package import PushSupport
package import PushTypes

/// Decides at which time the steady clock starts, and which marks are stored for the next start (decision 17).
///
/// The steady clock starts at the wall clock's time. If that is behind the last mark, or ahead of it by more than
/// ``plausible``, the steady clock continues from the mark. A wall clock that stays consistent for ``proof`` of running
/// time is believed at the next start. While the process runs, the steady clock follows elapsed time only.
package struct ClockStateMachine: Hashable, Sendable {
    /// The maximum time by which the wall clock may be ahead of the last mark at a start and still be believed.
    package static let plausible: Duration = .seconds(25 * 3600)
    /// The running time for which a wall clock ahead by more than ``plausible`` must stay consistent to be believed.
    package static let proof: Duration = .seconds(24 * 3600)
    /// The maximum change of the difference between the two clocks that does not count as a step of the wall clock.
    package static let leastStep: Duration = .seconds(2)

    /// The time at which the steady clock starts in this process.
    package let start: Timestamp
    /// The time by which a wall clock that is not believed is ahead of the steady clock, or `nil` if it is believed.
    package let disbelieved: Duration?
    /// The last observed time of a wall clock that is too far ahead to be believed, or `nil` for a plausible one.
    private var claim: Timestamp?
    /// The time for which the wall clock has been consistent with ``claim``.
    private var agreed: Duration
    private var last: ClockReading

    /// Decides at the start of the process whether to believe the wall clock.
    /// - Parameters:
    ///   - mark: The last stored mark, or `nil` if there is none, in which case the wall clock is believed.
    ///   - wall: The time of the wall clock.
    ///   - isConfirmed: `true` if an operator has confirmed the wall clock, which is then believed in any case.
    package init(mark: ClockMark?, wall: Timestamp, isConfirmed: Bool = false) {
        self.agreed = .zero
        guard let mark, !isConfirmed else {
            self.start = wall
            self.disbelieved = nil
            self.last = ClockReading(wall)
            return
        }
        let isPlausible = wall <= mark.steady.advanced(by: Self.plausible)
        let isConsistent = mark.claim.map { wall >= $0 && wall <= $0.advanced(by: Self.plausible) } ?? false
        if isPlausible || (isConsistent && mark.agreed >= Self.proof) {
            self.start = max(wall, mark.steady)
            self.disbelieved = nil
        } else {
            self.start = mark.steady
            self.disbelieved = wall.since(mark.steady)
            self.claim = wall
            if isConsistent { self.agreed = mark.agreed }
        }
        self.last = ClockReading(wall: wall, steady: self.start)
    }

    /// The result of comparing the clocks with their last observation.
    package struct Observation: Hashable, Sendable {
        /// The time by which the wall clock was set forward (negative: back) since the last observation, or `nil` for
        /// none.
        package var step: Duration?
        /// The mark to store, from which the steady clock continues after a restart.
        package var mark: ClockMark
    }

    /// Compares the clocks with their last observation. Returns the wall clock's step, if any, and the mark to store.
    package mutating func observe(_ clocks: ClockReading) -> Observation {
        let elapsed = clocks.steady.since(self.last.steady)
        let step = clocks.wall.since(self.last.wall) - elapsed
        self.last = clocks
        let isStep = step > Self.leastStep || step < .zero - Self.leastStep
        if clocks.wall > clocks.steady.advanced(by: Self.plausible) {
            self.agreed = isStep || self.claim == nil ? .zero : self.agreed + elapsed
            self.claim = clocks.wall
        } else {
            self.claim = nil
            self.agreed = .zero
        }
        let mark = ClockMark(steady: clocks.steady, claim: self.claim, agreed: self.agreed)
        return Observation(step: isStep ? step : nil, mark: mark)
    }
}

/// The clocks of a provider: the wall clock, and a steady clock that survives restarts (see ``ClockStateMachine``).
package struct ProviderTime: TimeSource {
    private let base: any TimeSource
    private let shift: Duration

    package init(_ base: any TimeSource, startingAt start: Timestamp) {
        self.base = base
        self.shift = start.since(base.steady)
    }

    package var now: Timestamp { self.base.now }
    package var steady: Timestamp { self.base.steady.advanced(by: self.shift) }
}
