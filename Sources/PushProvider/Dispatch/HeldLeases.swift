import PushStore
import Synchronization

/// The leases under which this process works, by their fencing numbers.
///
/// A lease is a row in the store with an owner and an end (decision 19). The store alone grants leases and refuses writes
/// under lost ones. It cannot know which claims reached their caller, so each claim brings this set along. What the process
/// holds is never granted again, however long it takes. What it does not hold although the store says so is free at once:
/// the claim's response was lost, or its page was never written. The end of a lease matters for other owners only.
final class HeldLeases: Sendable {
    /// The held leases, and the claims in flight.
    private struct State {
        /// The numbers of claims that share each lease.
        var fences: [Int64: Int] = [:]
        var highest: Int64 = 0
        /// The highest number that was known when each claim in flight began.
        var claiming: [Int: Int64] = [:]
        var claims = 0
    }

    private let state = Mutex(State())

    /// Claims, telling the store which leases are held, and holds the leases that the claim gives.
    /// - Parameter fence: Returns the fencing number of a claim.
    func claim<Claimed: Sendable>(
        fence: (Claimed) -> Int64,
        _ body: (ClaimFilter.Held) async throws -> [Claimed]
    ) async throws -> [Claimed] {
        let number = self.begin()
        defer { self.end(claim: number) }
        let held = self.state.withLock { state in
            let upTo = state.claiming.values.min() ?? state.highest
            return ClaimFilter.Held(fences: Set(state.fences.keys), upTo: upTo)
        }
        let claimed = try await body(held)
        self.hold(claimed.map(fence))
        return claimed
    }

    /// Claims what is added to the store, and holds the leases of that.
    /// - Parameter fences: Returns the fencing numbers of the claims, several of which may share one.
    func claimNew<Added: Sendable>(
        fences: (Added) -> [Int64],
        _ body: () async throws -> Added
    ) async throws -> Added {
        let number = self.begin()
        defer { self.end(claim: number) }
        let added = try await body()
        self.hold(fences(added))
        return added
    }

    /// Ends a claim, once the results of what was sent under it are written. Its lease ends with the last one that shares it.
    func end(_ fence: Int64) {
        self.state.withLock { state in
            guard let count = state.fences[fence] else { return }
            state.fences[fence] = count > 1 ? count - 1 : nil
        }
    }

    private func begin() -> Int {
        self.state.withLock { state in
            state.claims += 1
            state.claiming[state.claims] = state.highest
            return state.claims
        }
    }

    private func end(claim number: Int) { self.state.withLock { _ = $0.claiming.removeValue(forKey: number) } }

    private func hold(_ fences: [Int64]) {
        self.state.withLock { state in
            for fence in fences {
                state.fences[fence, default: 0] += 1
                state.highest = max(state.highest, fence)
            }
        }
    }
}
