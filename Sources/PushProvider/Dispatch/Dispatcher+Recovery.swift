import Logging
import PushProtocol
import PushStore

extension Dispatcher {
    private static let interrupted = "the server ended while this was being sent; at most once means not again"

    /// For the start: gives back every lease, and ends what at-most-once had begun, which webhooks are told of too.
    func recover() async throws {
        try await self.store.recover(now: self.time.now)
        do {
            let count = try await self.endBegun()
            guard count > 0 else { return }
            self.logger.warning("recipients were interrupted", metadata: ["count": "\(count)"])
        } catch {
            // All others are sent nevertheless.
            self.logger.error("what was interrupted cannot be ended", metadata: ["error": "\(error)"])
        }
    }

    private func endBegun() async throws -> Int {
        var count = 0
        while true {
            let begun = try await self.store.begun(limit: self.limits.page)
            guard !begun.isEmpty else { return count }
            var ended: [PageResult] = []
            for claim in begun {
                let number = claim.notificationNumber
                let notification = try await self.pages.prepareToEnd(claim.notification, number: number)
                ended.append(self.pages.end(claim.recipients, of: notification, reason: Self.interrupted))
                count += claim.recipients.count
            }
            _ = try await self.store.commit(ended, now: self.time.now)
        }
    }
}
