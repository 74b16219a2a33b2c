import PushTypes

/// The token buckets of a budget's rates, one for each account. Full ones are removed when there are many.
struct BudgetBuckets: Sendable {
    private typealias Bucket = TokenBucket<ContinuousClock.Instant>

    private enum Account: Hashable {
        case whole
        case app(Topic?)
        case caller(BudgetCaller)
    }

    /// The fewest buckets from which full ones are removed.
    private static let minimumSearched = 1000

    private var buckets: [Account: Bucket] = [:]
    /// The number of buckets from which full ones are removed: twice as many as were left the last time, so that a new account
    /// costs little on average.
    private var searched = Self.minimumSearched

    /// Takes an amount of each level that has a rate, or of none.
    /// - Returns: The lowest level that does not have it, and the time after which it does; `nil` if it was taken.
    mutating func take(
        _ amount: Double,
        _ caller: BudgetCaller,
        _ bounds: BudgetLimits.Levels<BudgetBound>,
        now: ContinuousClock.Instant
    ) -> (BudgetLevel, Duration)? {
        var taken: [(Account, Bucket)] = []
        for level in [BudgetLevel.caller, .app, .whole] {
            guard case .rate(let rate, let burst) = bounds[level], level != .caller || caller.rate != 0 else {
                continue
            }
            let account = Self.account(level, caller)
            var bucket = self.bucket(account, rate, burst, now)
            // No more than a full bucket has: else it could never be taken.
            if let delay = bucket.take(min(amount, bucket.burst), now: now) { return (level, delay) }
            taken.append((account, bucket))
        }
        for (account, bucket) in taken { self.buckets[account] = bucket }
        self.removeFull(now: now)
        return nil
    }

    /// Takes an amount that may be owed for as long as the limits' patience.
    mutating func owe(
        _ amount: Double,
        _ caller: BudgetCaller,
        _ limits: BudgetLimits,
        now: ContinuousClock.Instant
    ) -> Result<Duration, BudgetStateMachine.Refused> {
        var (taken, longest): ([(Account, Bucket)], Duration) = ([], .zero)
        for level in [BudgetLevel.caller, .app, .whole] {
            guard case .rate(let rate, let burst) = limits.bounds[level], level != .caller || caller.rate != 0 else {
                continue
            }
            let account = Self.account(level, caller)
            var bucket = self.bucket(account, rate, burst, now)
            let delay = bucket.spend(amount, now: now)
            guard delay <= limits.patience else {
                return .failure(BudgetStateMachine.Refused(level: level, delay: delay))
            }
            longest = max(longest, delay)
            taken.append((account, bucket))
        }
        for (account, bucket) in taken { self.buckets[account] = bucket }
        self.removeFull(now: now)
        return .success(longest)
    }

    private func bucket(_ account: Account, _ rate: Double, _ burst: Double, _ now: ContinuousClock.Instant) -> Bucket {
        if let bucket = self.buckets[account] { return bucket }
        guard case .caller(let caller) = account, let own = caller.rate else {
            return Bucket(rate: rate, burst: burst, now: now)
        }
        return Bucket(rate: own, burst: 2 * own, now: now)
    }

    private static func account(_ level: BudgetLevel, _ caller: BudgetCaller) -> Account {
        switch level {
        case .whole: .whole
        case .app: .app(caller.app)
        case .caller: .caller(caller)
        }
    }

    private mutating func removeFull(now: ContinuousClock.Instant) {
        guard self.buckets.count >= self.searched else { return }
        self.buckets = self.buckets.filter { _, bucket in
            var bucket = bucket
            return !bucket.isFull(now: now)
        }
        self.searched = max(Self.minimumSearched, 2 * self.buckets.count)
    }
}
