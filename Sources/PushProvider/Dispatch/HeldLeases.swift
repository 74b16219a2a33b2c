import Foundation
import PushStore
import Synchronization

/// The leases that this process holds, keyed by their fencing numbers.
///
/// A lease is a row in the store with an owner and an expiry (decision 19). Only the store grants leases, and it
/// refuses writes under lost leases.
///
/// The store cannot know which claims reached the process, so the process sends its set of leases with each request for
/// claims. A lease that the process holds is not granted again, however long the work takes. If the store names the
/// process as the owner of a lease that it does not hold, the lease is free immediately: the response to the claim was
/// lost, or the page was never written. So the expiry of a lease matters to other owners only.
final class HeldLeases: Sendable {
    private struct State {
        /// The number of claims that share each lease, keyed by fencing number.
        var fences: [Int64: Int] = [:]
        var highest: Int64 = 0
        /// The highest fencing number that was known when each request in flight began, keyed by request number.
        var claiming: [Int: Int64] = [:]
        var lastClaim = 0
        var claims: [ObjectIdentifier: ActiveClaim] = [:]
        /// The stops that were applied while requests for claims were in flight, each with the number of the last
        /// request before it. They also apply to the claims that these requests return.
        var stops: [(after: Int, scope: StopScope)] = []
    }

    private let state = Mutex(State())

    /// Runs `body`, which requests claims from the store given the held leases, and records the leases of these claims.
    /// - Parameters:
    ///   - fence: Returns the fencing number of a claim.
    ///   - memory: Returns the in-memory state of a claim, to which stops are applied, or `nil` if it has none.
    func claim<Claimed: Sendable>(
        fence: (Claimed) -> Int64,
        memory: (Claimed) -> ActiveClaim? = { _ in nil },
        _ body: (ClaimFilter.Held) async throws -> [Claimed]
    ) async throws -> [Claimed] {
        let number = self.begin()
        defer { self.end(claim: number) }
        let held = self.state.withLock { state in
            let upTo = state.claiming.values.min() ?? state.highest
            return ClaimFilter.Held(fences: Set(state.fences.keys), upTo: upTo)
        }
        let claimed = try await body(held)
        self.hold(claimed.map(fence), claimed.compactMap(memory), after: number)
        return claimed
    }

    /// Runs `body`, which adds work to the store and claims it in the same transaction, and records the claims' leases.
    /// - Parameters:
    ///   - fences: Returns the fencing numbers of the claims, several of which may share one.
    ///   - memory: Returns the in-memory states of the claims, to which stops are applied.
    func claimNew<Added: Sendable>(
        fences: (Added) -> [Int64],
        memory: (Added) -> [ActiveClaim] = { _ in [] },
        _ body: () async throws -> Added
    ) async throws -> Added {
        let number = self.begin()
        defer { self.end(claim: number) }
        let added = try await body()
        self.hold(fences(added), memory(added), after: number)
        return added
    }

    /// Ends a claim after the results of its pushes were written. The lease ends with the last claim that shares it.
    /// `memory` is the in-memory state of the claim, or `nil` if it has none.
    func end(_ fence: Int64, _ memory: ActiveClaim? = nil) {
        self.state.withLock { state in
            if let memory { state.claims[ObjectIdentifier(memory)] = nil }
            guard let count = state.fences[fence] else { return }
            state.fences[fence] = count > 1 ? count - 1 : nil
        }
        memory?.landed()
    }

    /// Applies a stop to all claims in memory, and to those that requests in flight will return. Returns the pushes in
    /// flight that could not be taken back.
    func apply(_ stop: StopScope) -> PushesInFlight {
        let claims = self.state.withLock { state in
            if !state.claiming.isEmpty { state.stops.append((after: state.lastClaim, scope: stop)) }
            return state.claims.values.filter { $0.mayBeConcerned(by: stop) }
        }
        return claims.reduce(into: PushesInFlight()) { $0.apply(stop, to: $1) }
    }

    /// Returns the notifications of an app of which there are claims in memory.
    func notifications(of app: Int64) -> Set<UUID> {
        self.state.withLock { Set($0.claims.values.lazy.filter { $0.app == app }.map(\.notification)) }
    }

    /// A Boolean value that indicates whether there is nothing in memory to which a stop could apply.
    var isIdle: Bool { self.state.withLock { $0.claims.isEmpty && $0.claiming.isEmpty } }

    private func begin() -> Int {
        self.state.withLock { state in
            state.lastClaim += 1
            state.claiming[state.lastClaim] = state.highest
            return state.lastClaim
        }
    }

    private func end(claim number: Int) {
        self.state.withLock { state in
            state.claiming[number] = nil
            guard !state.stops.isEmpty else { return }
            let first = state.claiming.keys.min() ?? .max
            state.stops.removeAll { $0.after < first }
        }
    }

    private func hold(_ fences: [Int64], _ claims: [ActiveClaim], after number: Int) {
        self.state.withLock { state in
            for claim in claims {
                state.claims[ObjectIdentifier(claim)] = claim
                for stop in state.stops where stop.after >= number { _ = claim.apply(stop.scope) }
            }
            for fence in fences {
                state.fences[fence, default: 0] += 1
                state.highest = max(state.highest, fence)
            }
        }
    }
}
