import PushStore
import Synchronization

/// What this process is sending, by itself: a lease that has run out, because nothing could be written for long, is no
/// reason to send the same again.
final class UnderWay: Sendable {
    /// A shard by its number, or a recipient that is tried again by its id.
    private struct Part: Hashable {
        var notification: Int64
        var number: Int64
    }

    private let shards = Mutex<Set<Part>>([])
    private let retries = Mutex<Set<Part>>([])

    func isFree(shard: Int64, of notification: Int64) -> Bool {
        self.shards.withLock { !$0.contains(Part(notification: notification, number: shard)) }
    }

    func isFree(retry recipient: Int64, of notification: Int64) -> Bool {
        self.retries.withLock { !$0.contains(Part(notification: notification, number: recipient)) }
    }

    func begin(_ claims: [ShardClaim]) {
        self.shards.withLock { $0.formUnion(claims.map(Self.part)) }
    }

    /// Once it is written what became of it.
    func end(_ claim: ShardClaim) {
        self.shards.withLock { _ = $0.remove(Self.part(of: claim)) }
    }

    func begin(_ claims: [RetryClaim]) {
        self.retries.withLock { retries in
            for claim in claims { retries.formUnion(Self.parts(of: claim)) }
        }
    }

    func end(_ claim: RetryClaim) {
        self.retries.withLock { $0.subtract(Self.parts(of: claim)) }
    }

    private static func part(of claim: ShardClaim) -> Part {
        Part(notification: claim.notificationNumber, number: claim.shard)
    }

    private static func parts(of claim: RetryClaim) -> [Part] {
        claim.recipients.map { Part(notification: claim.notificationNumber, number: $0.id) }
    }
}
