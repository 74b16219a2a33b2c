/// What a process takes of what is due.
package struct ClaimFilter: Sendable {
    /// No retries of these apps.
    package var apps: Set<Int64>
    /// No shards of notifications to these.
    package var services: Set<SendingService>
    /// Whether the process does not have it already: a lease may run out while it has. By the notification's number, and
    /// the shard's or the recipient's.
    package var isFree: @Sendable (_ notification: Int64, _ part: Int64) -> Bool

    package init(
        excluding apps: Set<Int64> = [],
        services: Set<SendingService> = [],
        isFree: @Sendable @escaping (Int64, Int64) -> Bool = { _, _ in true }
    ) {
        self.apps = apps
        self.services = services
        self.isFree = isFree
    }
}
