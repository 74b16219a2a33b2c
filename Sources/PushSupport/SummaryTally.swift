/// Counts what is logged as sums: a few lines, however much there was.
package struct SummaryTally<Key: Hashable & Sendable>: Sendable {
    private let maximumKeys: Int
    private var counts: [Key: Int] = [:]
    private var others = 0

    /// - Parameter maximumKeys: The most sums that are kept apart.
    package init(maximumKeys: Int) {
        self.maximumKeys = maximumKeys
    }

    package mutating func add(_ key: Key, count: Int = 1) {
        if self.counts[key] != nil || self.counts.count < self.maximumKeys {
            self.counts[key, default: 0] += count
        } else {
            self.others += count
        }
    }

    /// Returns the sums, the largest first, and the sum of what had no room. Begins anew.
    package mutating func take() -> (sums: [(key: Key, count: Int)], others: Int) {
        defer { (self.counts, self.others) = ([:], 0) }
        return (self.counts.map { ($0.key, $0.value) }.sorted { $0.count > $1.count }, self.others)
    }
}
