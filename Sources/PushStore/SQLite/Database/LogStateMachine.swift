import PushSupport

/// The decisions that bound the write-ahead log: when it is folded into the database, and when writers wait for that.
///
/// A log can be folded as far as the oldest snapshot in use. So readers renew their snapshots while it is folded, and from a
/// length above that no transaction begins before it has been. Only a snapshot of another process lets it grow further, and a read of
/// this one that keeps its snapshot for longer than ``Limits/longPatience``, for a moment at a time.
struct LogStateMachine {
    /// The numbers of pages of 4 kB in the log, with 24 bytes each.
    struct Limits: Hashable, Sendable {
        /// From here each commit copies what no snapshot prevents into the database (`SQLITE_CHECKPOINT_PASSIVE`).
        var checkpoint = 8000
        /// From here readers renew their snapshots, and the log is folded: 41 MB.
        var renewal = 10_000
        /// From here writers wait until it has been: 49 MB, which leaves one transaction 15 MB of 64 MB.
        var hold = 12_000
        /// The time for which a fold waits for snapshots, which are renewed meanwhile.
        var patience: Duration = .seconds(1)
        /// The time for which it waits before that for reads that keep their snapshots. Others read meanwhile, and write up to `hold`.
        var longPatience: Duration = .seconds(5)
    }

    /// The time for which writers do not wait for a snapshot of another process that did not end.
    static let grace: Duration = .seconds(5)
    /// The same for one of this process, which ends soon.
    static let shortGrace: Duration = .milliseconds(250)

    /// The reason for which the log would be folded.
    enum Reason {
        /// The last commit left it long.
        case length
        /// Its file is long, whatever commits have said.
        case fileLength
        /// It has to be empty.
        case demand
    }

    private enum Phase {
        case open, folding
        /// A snapshot did not end in time, so that writers go on.
        case prevented(until: ContinuousClock.Instant)
    }

    /// An answer to who would fold the log.
    enum Turn {
        case fold
        /// Another one folds it now.
        case wait
        /// It is short, or could not be folded a moment ago.
        case pass
    }

    private let limits: Limits
    private var phase = Phase.open
    /// The number of pages in the log after the last transaction.
    private var pages = 0
    /// The numbers of times it was folded, and that a snapshot prevented it.
    private(set) var folds = (complete: 0, prevented: 0)

    init(limits: Limits = Limits()) { self.limits = limits }

    /// Notes the number of pages after a commit.
    /// - Returns: `true` if the commit copies into the database what it can.
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

    /// Gives a turn to fold the log.
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

    /// Ends a turn.
    /// - Parameter isOwn: Whether a snapshot that prevented it may be one of this process.
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
