import Foundation
package import PushTypes

/// The two clocks of a process. Tests use clocks of their own.
package protocol TimeSource: Sendable {
    /// The time of the wall clock, for times that users enter or read. It may step in either direction.
    var now: Timestamp { get }
    /// The time of the steady clock, for timeouts and delays. It never steps, and advances while the computer sleeps.
    var steady: Timestamp { get }
}

extension TimeSource {
    package var reading: ClockReading { ClockReading(wall: self.now, steady: self.steady) }
    /// The time with which records are stored: that of the later clock. With the time of a wall clock that is behind,
    /// records would be deleted too early.
    package var recorded: Timestamp { self.reading.later }
}

/// The times of both clocks at the same moment.
package struct ClockReading: Hashable, Sendable {
    package var wall: Timestamp
    package var steady: Timestamp

    package init(wall: Timestamp, steady: Timestamp) { (self.wall, self.steady) = (wall, steady) }

    /// Creates a reading in which both clocks have the same time.
    package init(_ timestamp: Timestamp) { self.init(wall: timestamp, steady: timestamp) }

    /// The time of the earlier clock. Nothing is deleted or abandoned until it is old enough by this time.
    package var earlier: Timestamp { min(self.wall, self.steady) }
    package var later: Timestamp { max(self.wall, self.steady) }

    /// Converts a time of the steady clock to the wall clock's, for display.
    package func wall(atSteady timestamp: Timestamp) -> Timestamp {
        self.wall.advanced(by: timestamp.since(self.steady))
    }

    /// Converts a time of the wall clock to the steady clock's. The result is valid if the wall clock does not step.
    package func steady(atWall timestamp: Timestamp) -> Timestamp {
        self.steady.advanced(by: timestamp.since(self.wall))
    }
}

/// The clocks of the operating system. The steady clock starts at the wall clock's time when it is first created.
package struct SystemTime: TimeSource {
    private static let start = (wall: Self.read(CLOCK_REALTIME), elapsed: Self.read(Self.elapsing))

    #if canImport(Darwin)
    private static let elapsing = CLOCK_MONOTONIC
    #else
    private static let elapsing = CLOCK_BOOTTIME
    #endif

    package init() {
        // The steady clock starts here, not when it is first read.
        _ = Self.start
    }

    package var now: Timestamp { Self.read(CLOCK_REALTIME) }

    package var steady: Timestamp { Self.start.wall.advanced(by: Self.read(Self.elapsing).since(Self.start.elapsed)) }

    private static func read(_ clock: clockid_t) -> Timestamp {
        var time = timespec()
        clock_gettime(clock, &time)
        return Timestamp(milliseconds: Int64(time.tv_sec) * 1000 + Int64(time.tv_nsec) / 1_000_000)
    }
}

extension Duration {
    /// The duration in whole milliseconds, clamped to the range of 64 bits.
    package var milliseconds: Int64 { self.whole(perSecond: 1000) }

    /// The duration in whole microseconds, clamped to the range of 64 bits.
    package var microseconds: Int64 { self.whole(perSecond: 1_000_000) }

    private func whole(perSecond units: Int64) -> Int64 {
        let (seconds, attoseconds) = self.components
        let (product, overflow) = seconds.multipliedReportingOverflow(by: units)
        let (sum, sumOverflow) = product.addingReportingOverflow(attoseconds / (1_000_000_000_000_000_000 / units))
        return overflow || sumOverflow ? (seconds < 0 ? .min : .max) : sum
    }

    /// The duration as human-readable text, such as `3 ms`, `12 s` or `2 h 5 min`.
    package var readable: String {
        let microseconds = self.microseconds
        if microseconds <= 0 { return "less than 1 ms" }
        if microseconds < 1000 { return "\(microseconds) µs" }
        if microseconds < 10_000_000 { return "\(microseconds / 1000) ms" }
        let seconds = self.components.seconds
        if seconds < 600 { return "\(seconds) s" }
        if seconds < 3600 { return "\(seconds / 60) min" }
        if seconds < 48 * 3600 { return "\(seconds / 3600) h \(seconds % 3600 / 60) min" }
        return "\(seconds / 86_400) d \(seconds % 86_400 / 3600) h"
    }
}
