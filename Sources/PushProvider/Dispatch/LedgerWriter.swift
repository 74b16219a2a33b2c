import ProviderModel
import PushStore
import PushSupport
import PushTypes

/// Writes accepted notifications, and the results of urgent pages.
///
/// Writes that arrive while another write is in progress share one transaction, so that they share its sync to disk. If
/// no write is in progress, a write begins immediately. Writes for many recipients share no transaction with others, so
/// that those wait for one of them at most.
final class LedgerWriter: Sendable {
    /// The maximum number of recipients of the large writes in one transaction, unless a single one has more.
    static let maximumRecipients = 1000

    fileprivate enum Item: Sendable {
        case request(AcceptanceRequest, ActiveClaim?)
        case page(PageResult, app: Int64)
    }

    fileprivate enum Outcome: Sendable {
        case request(Result<AcceptanceResult, any Error>)
        case page(Result<CommitResult, any Error>)
    }

    /// The leases that the process holds, including those of notifications that are claimed on acceptance.
    let leases: HeldLeases
    private let batcher: WriteBatcher<Item, Outcome>

    /// Creates a writer. `lease` is the time after which the lease of a claimed notification expires unless renewed.
    init(store: any DispatchStore, lease: Duration, time: any TimeSource) {
        let leases = HeldLeases()
        self.leases = leases
        let transaction = Transaction(store: store, lease: lease, leases: leases, time: time)
        self.batcher = WriteBatcher(maximumSize: Self.maximumRecipients, large: { $0.large }) {
            await transaction.write($0)
        }
    }

    /// Accepts a notification, and returns when it is on disk.
    /// - Parameter memory: The claim state of a notification that is dispatched directly, or `nil` for any other.
    func accept(_ request: AcceptanceRequest, in memory: ActiveClaim? = nil) async throws -> AcceptanceResult {
        guard case .request(let result) = await self.batcher.commit(.request(request, memory))
        else { throw StoreError.cannotWrite(why: "there is no result") }
        return try result.get()
    }

    /// Writes the result of a page of an app's notification.
    /// - Throws: The error because of which the result was not written.
    func commit(_ page: PageResult, of app: Int64) async throws -> CommitResult {
        guard case .page(let result) = await self.batcher.commit(.page(page, app: app))
        else { throw StoreError.cannotWrite(why: "there is no result") }
        return try result.get()
    }

    private struct Transaction: Sendable {
        let store: any DispatchStore
        let lease: Duration
        let leases: HeldLeases
        let time: any TimeSource

        func write(_ items: [Item]) async -> [Outcome] {
            do {
                return Self.outcomes(of: items, try await self.writeTogether(items))
            } catch let error where items.count == 1 || (error as? StoreError)?.isTemporary == true {
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
    /// The number of recipients of a write, and its app, if there are more recipients than direct dispatch permits.
    fileprivate var large: WriteBatcher<LedgerWriter.Item, LedgerWriter.Outcome>.Large? {
        let size = self.recipients
        return size > DirectDispatch.maximumTokens ? .init(size: size, app: self.app) : nil
    }

    private var recipients: Int {
        switch self {
        case .request(let request, _): request.notification.audience.namedTokens
        case .page(let page, _): page.deliveries.count + page.retries.count
        }
    }

    private var app: Int64 {
        switch self {
        case .request(let request, _): request.notification.app
        case .page(_, let app): app
        }
    }

    fileprivate func failure(_ error: any Error) -> LedgerWriter.Outcome {
        switch self {
        case .request: .request(.failure(error))
        case .page: .page(.failure(error))
        }
    }
}

extension Audience {
    fileprivate var namedTokens: Int { if case .tokens(let tokens) = self { tokens.count } else { 0 } }
}

extension LedgerBatch {
    fileprivate init(_ items: [LedgerWriter.Item]) {
        self.init()
        for item in items {
            switch item {
            case .request(let request, _): self.requests.append(request)
            case .page(let page, _): self.pages.append(page)
            }
        }
    }
}

extension LedgerBatchResult {
    fileprivate var fences: [Int64] { self.requests.compactMap { try? $0.get().claimed?.claim.fence } }

    fileprivate func memory(of items: [LedgerWriter.Item]) -> [ActiveClaim] {
        var memories: [ActiveClaim?] = []
        for case .request(_, let memory) in items { memories.append(memory) }
        return zip(self.requests, memories).compactMap { result, memory in
            (try? result.get())?.claimed == nil ? nil : memory
        }
    }

    /// Sets the time at which the requests were claimed, by the later of the two clocks.
    fileprivate mutating func setClaimTime(_ time: Timestamp) {
        for index in self.requests.indices {
            guard case .success(var result) = self.requests[index], result.claimed != nil else { continue }
            result.claimed?.claim.claimedAt = time
            self.requests[index] = .success(result)
        }
    }
}
