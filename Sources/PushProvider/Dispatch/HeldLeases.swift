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
        var fences: Set<Int64> = []
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
        let (number, held) = self.state.withLock { state in
            state.claims += 1
            state.claiming[state.claims] = state.highest
            let upTo = state.claiming.values.min() ?? state.highest
            return (state.claims, ClaimFilter.Held(fences: state.fences, upTo: upTo))
        }
        defer { self.state.withLock { _ = $0.claiming.removeValue(forKey: number) } }
        let claimed = try await body(held)
        self.state.withLock { state in
            for fence in claimed.map(fence) {
                state.fences.insert(fence)
                state.highest = max(state.highest, fence)
            }
        }
        return claimed
    }

    /// Ends a lease, once the results of what was sent under it are written.
    func end(_ fence: Int64) { self.state.withLock { _ = $0.fences.remove(fence) } }
}
