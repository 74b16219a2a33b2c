import Logging
import PushProtocol
import PushStore

extension Dispatcher {
    private static let interrupted = "the server ended while this was being sent; at most once means not again"

    /// For the start: gives back every lease, and ends what at-most-once had begun, which webhooks are told of too.
    func recover() async throws {
        try await self.store.recover(now: self.time.now)
        var count = 0
        while true {
            let begun = try await self.store.begun(limit: self.limits.page)
            guard !begun.isEmpty else { break }
            var ended: [PageResult] = []
            for claim in begun {
                let notification = try await self.pages.prepare(claim.notification, number: claim.notificationNumber)
                ended.append(self.pages.end(claim.recipients, of: notification, reason: Self.interrupted))
                count += claim.recipients.count
            }
            _ = try await self.store.commit(ended, now: self.time.now)
        }
        guard count > 0 else { return }
        self.logger.warning("recipients were interrupted", metadata: ["count": "\(count)"])
    }
}
