/// Decides when the write-ahead log is emptied, and when writers wait for that, so that the log stays bounded.
///
/// The log is emptied by a truncating checkpoint, which must not meet an old snapshot. Therefore readers renew their
/// snapshots during the checkpoint, and no transaction begins while the log exceeds ``Limits/hold``. The log grows
/// further only while another process holds a snapshot, or briefly while a read of this process keeps its snapshot for
/// longer than ``Limits/longPatience``.
struct LogStateMachine {
    /// The limits of the log. Lengths are numbers of pages in the log, each of which takes 4 kB and 24 bytes.
    struct Limits: Hashable, Sendable {
        /// The threshold above which each commit runs a passive checkpoint (`SQLITE_CHECKPOINT_PASSIVE`).
        var checkpoint = 8000
        /// The threshold above which a truncating checkpoint runs, for which readers renew their snapshots: 41 MB.
        var renewal = 10_000
        /// The threshold above which writers wait for a truncating checkpoint: 49 MB, to leave room below 64 MB.
        var hold = 12_000
        /// The maximum time that a truncating checkpoint waits for readers to renew their snapshots.
        var patience: Duration = .seconds(1)
        /// The maximum time that a truncating checkpoint first waits for reads that keep their snapshots. Meanwhile
        /// other reads continue, and so do writes until the log has reached ``hold``.
        var longPatience: Duration = .seconds(5)
    }

    /// The time for which writers continue after a snapshot of another process has prevented a truncating checkpoint.
    static let grace: Duration = .seconds(5)
    /// The time for which writers continue after a read of this process has prevented a truncating checkpoint. It is
    /// short, because such a read finishes soon.
    static let shortGrace: Duration = .milliseconds(250)

    /// The reason of a request for a truncating checkpoint.
    enum Reason {
        /// A request because the log exceeded its limit after the last commit.
        case length
        /// A request because the file of the log is long, even if the log was short after the last commit.
        case fileLength
        /// A request by a caller that needs an empty log.
        case demand
    }

    private enum Phase {
        case open, folding
        /// The phase after a snapshot has prevented a checkpoint. Writers try no other before the given time.
        case prevented(until: ContinuousClock.Instant)
    }

    /// The response to a request for a truncating checkpoint.
    enum Turn {
        case fold
        /// The response to a caller that has to wait until the checkpoint of another caller has finished.
        case wait
        /// The response to a caller that continues, because the log is short or a snapshot has just prevented one.
        case pass
    }

    private let limits: Limits
    private var phase = Phase.open
    /// The number of pages in the log after the last commit.
    private var pages = 0
    /// The number of truncating checkpoints that succeeded, and the number of those that a snapshot prevented.
    private(set) var folds = (complete: 0, prevented: 0)

    init(limits: Limits = Limits()) { self.limits = limits }

    /// Records the number of pages in the log after a commit.
    /// - Returns: Whether the caller should run a passive checkpoint.
    mutating func commit(pages: Int) -> Bool {
        self.pages = pages
        return pages >= self.limits.checkpoint
    }

    /// Returns whether a transaction may begin, because the log is shorter than ``Limits/hold``, or because a snapshot
    /// has prevented a truncating checkpoint and the grace period since then has not passed.
    func admitsWriter(now: ContinuousClock.Instant) -> Bool {
        if case .prevented(let until) = self.phase, now < until { return true }
        return self.pages < self.limits.hold
    }

    /// A Boolean value that indicates whether a truncating checkpoint is in progress.
    var isFolding: Bool { if case .folding = self.phase { true } else { false } }

    /// Decides how a caller that requests a truncating checkpoint proceeds.
    mutating func turn(_ reason: Reason, now: ContinuousClock.Instant) -> Turn {
        switch (self.phase, reason) {
        // A writer does not wait for another caller's checkpoint while the log has room.
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

    /// Records the result of a truncating checkpoint.
    /// - Parameters:
    ///   - isComplete: Whether the checkpoint emptied the log.
    ///   - isOwn: Whether a read of this process, and not another process, prevented the checkpoint.
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
