import PushStore
import Synchronization

/// The leases that this process works under, by their fencing numbers.
///
/// Each claim carries them: what the process holds is never given out again, however long it takes, and what it does
/// not hold although the store says so is free at once.
final class HeldLeases: Sendable {
    private struct State {
        var fences: Set<Int64> = []
        var highest: Int64 = 0
        /// The highest number that was known when each claim that is in flight began.
        var claiming: [Int: Int64] = [:]
        var claims = 0
    }

    private let state = Mutex(State())

    /// Claims with what is held, and holds what the claim gives.
    /// - Parameter fence: the fencing number of what was claimed.
    func claim<Claimed: Sendable>(
        _ body: (ClaimFilter.Held) async throws -> [Claimed],
        fence: (Claimed) -> Int64
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

    /// Gives a lease up, once what was sent under it is written.
    func end(_ fence: Int64) {
        self.state.withLock { _ = $0.fences.remove(fence) }
    }
}
