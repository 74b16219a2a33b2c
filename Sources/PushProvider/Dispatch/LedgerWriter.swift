import PushStore
import PushSupport
import PushTypes

/// Writes accepted notifications, and the results of urgent pages.
///
/// The writes that arrive while another is in progress share one transaction, so that a push costs a part of two syncs and
/// not two of its own. No write waits for others to join it: if none is in progress, it begins at once.
final class LedgerWriter: Sendable {
    /// A notification to accept or the result of a page, to be written.
    fileprivate enum Item: Sendable {
        case request(AcceptanceRequest, ActiveClaim?)
        case page(PageResult)
    }

    /// The result of one write, or the error because of which none of it was written.
    fileprivate enum Outcome: Sendable {
        case request(Result<AcceptanceResult, any Error>)
        case page(Result<CommitResult, any Error>)
    }

    /// The leases that the process holds, including those of notifications that are claimed when they are accepted.
    let leases: HeldLeases
    private let batcher: WriteBatcher<Item, Outcome>

    /// - Parameter lease: The time after which a lease without a commit ends.
    init(store: any DispatchStore, lease: Duration, time: any TimeSource) {
        let leases = HeldLeases()
        self.leases = leases
        let transaction = Transaction(store: store, lease: lease, leases: leases, time: time)
        self.batcher = WriteBatcher { await transaction.write($0) }
    }

    /// Accepts a notification, and returns when it is on disk.
    /// - Parameter memory: The state of the claim of a notification that is dispatched directly.
    func accept(_ request: AcceptanceRequest, in memory: ActiveClaim? = nil) async throws -> AcceptanceResult {
        guard case .request(let result) = await self.batcher.commit(.request(request, memory))
        else { throw StoreError.cannotWrite(why: "there is no result") }
        return try result.get()
    }

    /// Writes the result of a page.
    /// - Throws: The error because of which it was not written.
    func commit(_ page: PageResult) async throws -> CommitResult {
        guard case .page(let result) = await self.batcher.commit(.page(page))
        else { throw StoreError.cannotWrite(why: "there is no result") }
        return try result.get()
    }

    /// The transaction that writes one batch of items.
    private struct Transaction: Sendable {
        let store: any DispatchStore
        let lease: Duration
        let leases: HeldLeases
        let time: any TimeSource

        func write(_ items: [Item]) async -> [Outcome] {
            do {
                return Self.outcomes(of: items, try await self.writeTogether(items))
            } catch let error where items.count == 1 || error is StoreError {
                return items.map { $0.failure(error) }
            } catch {
                // One of the items cannot be written. Each is written alone, so that the others are.
                var outcomes: [Outcome] = []
                for item in items { outcomes += await self.write([item]) }
                return outcomes
            }
        }

        private func writeTogether(_ items: [Item]) async throws -> LedgerBatchResult {
            let writes = LedgerBatch(items)
            let (store, clocks) = (self.store, self.time.reading)
            let until = clocks.steady.advanced(by: self.lease)
            guard writes.requests.contains(where: \.isClaimed)
            else { return try await store.write(writes, now: clocks.later, leaseUntil: until) }
            var results = try await self.leases.claimNew(fences: \.fences, memory: { $0.memory(of: items) }) {
                try await store.write(writes, now: clocks.later, leaseUntil: until)
            }
            results.setClaimTime(clocks.later)
            return results
        }

        private static func outcomes(of items: [Item], _ results: LedgerBatchResult) -> [Outcome] {
            var (requests, pages) = (results.requests.makeIterator(), results.pages.makeIterator())
            return items.map { item in
                switch item {
                case .request: requests.next().map(Outcome.request) ?? item.failure(Self.missing)
                case .page: pages.next().map { .page(.success($0)) } ?? item.failure(Self.missing)
                }
            }
        }

        private static let missing = StoreError.cannotWrite(why: "there is no result")
    }
}

extension LedgerWriter.Item {
    fileprivate func failure(_ error: any Error) -> LedgerWriter.Outcome {
        switch self {
        case .request: .request(.failure(error))
        case .page: .page(.failure(error))
        }
    }
}

extension LedgerBatch {
    fileprivate init(_ items: [LedgerWriter.Item]) {
        self.init()
        for item in items {
            switch item {
            case .request(let request, _): self.requests.append(request)
            case .page(let page): self.pages.append(page)
            }
        }
    }
}

extension LedgerBatchResult {
    /// The fencing numbers of the requests that were claimed.
    fileprivate var fences: [Int64] { self.requests.compactMap { try? $0.get().claimed?.claim.fence } }

    /// Returns the claim states (``ActiveClaim``) of the requests that were claimed.
    fileprivate func memory(of items: [LedgerWriter.Item]) -> [ActiveClaim] {
        var memories: [ActiveClaim?] = []
        for case .request(_, let memory) in items { memories.append(memory) }
        return zip(self.requests, memories).compactMap { result, memory in
            (try? result.get())?.claimed == nil ? nil : memory
        }
    }

    /// Sets the time at which requests were claimed, by the later clock.
    fileprivate mutating func setClaimTime(_ time: Timestamp) {
        for index in self.requests.indices {
            guard case .success(var result) = self.requests[index], result.claimed != nil else { continue }
            result.claimed?.claim.claimedAt = time
            self.requests[index] = .success(result)
        }
    }
}
