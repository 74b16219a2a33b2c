/// Decides when the write-ahead log is folded into the database, and when writers wait for that, so that the log stays bounded.
///
/// A log can be folded only up to the oldest snapshot in use. Therefore readers renew their snapshots while it is folded, and
/// above a greater length no transaction begins before it has been folded. The log grows further only because of a snapshot of
/// another process, or briefly because of a read of this process that keeps its snapshot for longer than ``Limits/longPatience``.
struct LogStateMachine {
    /// The limits. Lengths are numbers of pages in the log, of 4 kB and 24 bytes each.
    struct Limits: Hashable, Sendable {
        /// The length from which each commit copies into the database what no snapshot prevents (`SQLITE_CHECKPOINT_PASSIVE`).
        var checkpoint = 8000
        /// The length from which the log is folded, and readers renew their snapshots for that: 41 MB.
        var renewal = 10_000
        /// The length from which writers wait until the log has been folded: 49 MB. It leaves one transaction 15 MB of 64 MB.
        var hold = 12_000
        /// The longest time for which a fold of the log waits for snapshots to be renewed.
        var patience: Duration = .seconds(1)
        /// The longest time for which a fold of the log first waits for reads that keep their snapshots. Meanwhile
        /// other reads continue, and so do writes until the log has reached ``hold``.
        var longPatience: Duration = .seconds(5)
    }

    /// The time for which writers continue after a snapshot of another process has prevented a fold of the log.
    static let grace: Duration = .seconds(5)
    /// The time for which writers continue after a snapshot of this process has prevented a fold of the log. Such a
    /// snapshot ends soon.
    static let shortGrace: Duration = .milliseconds(250)

    /// The reason of a request to fold the log.
    enum Reason {
        /// The log was long after the last commit.
        case length
        /// The file of the log is long, regardless of the length after the last commit.
        case fileLength
        /// The log must be emptied.
        case demand
    }

    private enum Phase {
        case open, folding
        /// A snapshot has prevented a fold of the log. Writers continue without another fold until the given time.
        case prevented(until: ContinuousClock.Instant)
    }

    /// The decision about a request to fold the log.
    enum Turn {
        case fold
        /// The caller waits until another caller has folded the log.
        case wait
        /// The caller continues without a fold, because the log is short or could not be folded a moment ago.
        case pass
    }

    private let limits: Limits
    private var phase = Phase.open
    /// The number of pages in the log after the last transaction.
    private var pages = 0
    /// The numbers of completed folds of the log, and of folds that a snapshot prevented.
    private(set) var folds = (complete: 0, prevented: 0)

    init(limits: Limits = Limits()) { self.limits = limits }

    /// Records the number of pages in the log after a commit.
    /// - Returns: `true` if the commit should copy into the database what no snapshot prevents.
    mutating func commit(pages: Int) -> Bool {
        self.pages = pages
        return pages >= self.limits.checkpoint
    }

    /// Returns `true` if a transaction may begin.
    func admitsWriter(now: ContinuousClock.Instant) -> Bool {
        if case .prevented(let until) = self.phase, now < until { return true }
        return self.pages < self.limits.hold
    }

    /// Indicates whether the log is being folded.
    var isFolding: Bool { if case .folding = self.phase { true } else { false } }

    /// Decides about a request to fold the log.
    mutating func turn(_ reason: Reason, now: ContinuousClock.Instant) -> Turn {
        switch (self.phase, reason) {
        // A writer does not wait for a fold while the log has room.
        case (.folding, .length) where self.pages < self.limits.hold: return .pass
        case (.folding, _): return .wait
        case (_, .demand): break
        case (.prevented(let until), _) where now < until: return .pass
        case (_, .length) where self.pages < self.limits.renewal: return .pass
        default: break
        }
        self.phase = .folding
        return .fold
    }

    /// Ends a fold of the log.
    /// - Parameter isOwn: Whether a snapshot of this process may have prevented it.
    mutating func end(isComplete: Bool, isOwn: Bool = false, now: ContinuousClock.Instant) {
        if isComplete {
            (self.phase, self.pages) = (.open, 0)
            self.folds.complete += 1
        } else {
            self.phase = .prevented(until: now + (isOwn ? Self.shortGrace : Self.grace))
            self.folds.prevented += 1
        }
    }
}
