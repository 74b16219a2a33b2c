/// What a process takes of what is due.
package struct ClaimFilter: Sendable {
    /// Nothing of these apps; of shards this counts in the urgent lane only.
    package var apps: Set<Int64>
    /// Whether the process does not have it already: a lease may run out while it has. By the notification's number, and
    /// the shard's or the recipient's.
    package var isFree: @Sendable (_ notification: Int64, _ part: Int64) -> Bool

    package init(
        excluding apps: Set<Int64> = [],
        isFree: @Sendable @escaping (Int64, Int64) -> Bool = { _, _ in true }
    ) {
        self.apps = apps
        self.isFree = isFree
    }
}
