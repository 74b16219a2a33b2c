package import Foundation
import ProviderModel
package import PushTypes
import Synchronization

/// Decides whether the next wave of a notification may begin, by the download figures of its app.
///
/// A wave waits while a figure is at its limit, and begins when all figures are below four fifths of their limits, so
/// that the decision does not change with every download.
///
/// While no figures are known, such as after a restart, a wave waits for ``patience`` and then begins. After
/// ``longest`` it begins whatever the figures are, so that downloads which never finish do not stop a campaign. A wave
/// that has begun is not stopped. The caller passes in the time.
struct WaveSteering: Sendable {
    enum Decision: Hashable {
        case begin
        /// The decision that the wave waits. The next decision is due after ``interval``.
        case wait(HeldWave)
    }

    /// The time between two decisions about a waiting wave.
    static let interval: Duration = .seconds(2)
    /// The maximum time for which a wave waits while the download figures are not known. Then the wave begins.
    static let patience: Duration = .seconds(60)
    /// The maximum time for which a wave waits for any cause. Then the wave begins.
    static let longest: Duration = .seconds(1800)

    private let limits: SteeringLimits
    private var waitsSince: Timestamp?
    /// The time at which the figures became unknown, or `nil` while they are known.
    private var blindSince: Timestamp?

    init(limits: SteeringLimits) { self.limits = limits }

    /// Decides about the next wave.
    /// - Parameter figures: The download figures of the app, or `nil` if they are not known.
    mutating func decide(_ figures: DownloadFigures?, now: Timestamp) -> Decision {
        guard let figures else {
            let blindSince = min(self.blindSince ?? now, now)
            self.blindSince = blindSince
            guard now.since(blindSince) < Self.patience else { return self.begin() }
            return self.wait(.figures, nil, now)
        }
        self.blindSince = nil
        // While a wave waits, the figures are compared with four fifths of their limits.
        let (numerator, denominator) = self.waitsSince == nil ? (1, 1) : (4, 5)
        func exceeds(_ figure: Int, _ limit: Int?) -> Bool {
            guard let limit else { return false }
            let (left, right) = (
                figure.multipliedReportingOverflow(by: denominator), limit.multipliedReportingOverflow(by: numerator)
            )
            return left.overflow || !right.overflow && left.partialValue >= right.partialValue
        }
        if exceeds(figures.open, self.limits.maximumDownloads) { return self.wait(.downloads, figures, now) }
        if exceeds(figures.bytesPerSecond, self.limits.maximumBandwidth) { return self.wait(.bandwidth, figures, now) }
        return self.begin()
    }

    private mutating func begin() -> Decision {
        self.waitsSince = nil
        return .begin
    }

    private mutating func wait(_ cause: HeldWave.Cause, _ figures: DownloadFigures?, _ now: Timestamp) -> Decision {
        let since = min(self.waitsSince ?? now, now)
        guard now.since(since) < Self.longest else { return self.begin() }
        self.waitsSince = since
        return .wait(HeldWave(cause: cause, since: since, figures: figures))
    }
}

/// A wave of a notification that does not begin until the app's downloads decrease, or their figures are known.
package struct HeldWave: Hashable, Sendable {
    /// The reason why a wave waits.
    package enum Cause: String, CaseIterable, Hashable, Sendable {
        /// The wave waits because the number of open downloads is at its limit.
        case downloads
        /// The wave waits because the bytes per second of the downloads are at their limit.
        case bandwidth
        /// The wave waits because the download figures are not known yet.
        case figures
    }

    package let cause: Cause
    /// The time at which the wave began to wait, by the steady clock.
    package let since: Timestamp
    /// The download figures at the latest decision, or `nil` if they were not known.
    package let figures: DownloadFigures?
}

/// The download figures of an app, or of the whole provider.
package struct DownloadFigures: Hashable, Sendable {
    /// The number of open downloads.
    package var open: Int
    /// The average number of bytes per second that downloads transferred in the last ten seconds.
    package var bytesPerSecond: Int
}

/// The waves that wait for downloads, keyed by notification, as of the dispatcher's latest decisions.
///
/// They are in memory only: after a restart the dispatcher decides again.
package final class HeldWaveRegistry: Sendable {
    /// The age from which a decision is ignored, for example because its notification was paused afterwards.
    private static let age: Duration = .seconds(30)

    private struct Entry {
        var wait: HeldWave
        var decidedAt: Timestamp
    }

    private let entries = Mutex<[UUID: Entry]>([:])

    package init() {}

    /// Returns the waiting wave of a notification, or `nil` if none waits, or if its latest decision is 30 seconds old.
    /// - Parameter now: The current time by the steady clock.
    package func wait(of notification: UUID, now: Timestamp) -> HeldWave? {
        self.entries.withLock { entries in
            entries[notification].flatMap { now.since($0.decidedAt) < Self.age ? $0.wait : nil }
        }
    }

    /// Returns the number of waiting notifications for each cause.
    package func counts(now: Timestamp) -> [HeldWave.Cause: Int] {
        self.entries.withLock { entries in
            entries = entries.filter { now.since($0.value.decidedAt) < Self.age }
            return entries.values.reduce(into: [:]) { $0[$1.wait.cause, default: 0] += 1 }
        }
    }

    func note(_ wait: HeldWave?, of notification: UUID, now: Timestamp) {
        self.entries.withLock { entries in
            // Old decisions are removed to limit the memory, because no further decision follows for a notification
            // that was paused or cancelled.
            if wait != nil, entries[notification] == nil {
                entries = entries.filter { now.since($0.value.decidedAt) < Self.age }
            }
            entries[notification] = wait.map { Entry(wait: $0, decidedAt: now) }
        }
    }
}
