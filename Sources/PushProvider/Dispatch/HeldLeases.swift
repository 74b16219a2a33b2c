package import Foundation
package import PushStore
package import PushTypes
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
        var lastClaim = 0
        /// The work under the leases.
        var claims: [ObjectIdentifier: ActiveClaim] = [:]
        /// The stops since the first of the claims in flight began, each with the last claim before it. They hold for what
        /// these claims return.
        var stops: [(after: Int, scope: StopScope)] = []
    }

    private let state = Mutex(State())

    /// Claims, telling the store which leases are held, and holds the leases that the claim gives.
    /// - Parameters:
    ///   - fence: Returns the fencing number of a claim.
    ///   - memory: Returns its place in memory.
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

    /// Claims what is added to the store, and holds the leases of that.
    /// - Parameters:
    ///   - fences: Returns the fencing numbers of the claims, several of which may share one.
    ///   - memory: Returns their places in memory.
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

    /// Ends a claim, once the results of what was sent under it are written. Its lease ends with the last one that shares it.
    func end(_ fence: Int64, _ memory: ActiveClaim? = nil) {
        self.state.withLock { state in
            if let memory { state.claims[ObjectIdentifier(memory)] = nil }
            guard let count = state.fences[fence] else { return }
            state.fences[fence] = count > 1 ? count - 1 : nil
        }
        memory?.landed()
    }

    /// Applies a stop to all that is in memory, and to what the claims in flight return.
    func apply(_ stop: StopScope) -> PushesInFlight {
        let claims = self.state.withLock { state in
            if !state.claiming.isEmpty { state.stops.append((after: state.lastClaim, scope: stop)) }
            return state.claims.values.filter { $0.mayBeConcerned(by: stop) }
        }
        return claims.reduce(into: PushesInFlight()) { $0.apply(stop, to: $1) }
    }

    /// Indicates whether nothing is in memory that a stop could concern.
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

/// The pushes that a stop concerns (docs/decisions/0051).
package enum StopScope: Hashable, Sendable {
    case notification(UUID)
    case app(Int64)
    /// The credential of an environment was removed. Browsers have other credentials.
    case environment(AppEnvironment)
    /// The reads of devices from before a change.
    case devices(Set<Int64>, app: Int64)
    /// The reads of tokens of a user that is erased.
    case tokens(Set<DeviceToken>, app: Int64)

    /// Indicates whether the recipients of a page that is read from now on are as they were before the stop.
    ///
    /// A page that is read after a change of devices has the change.
    var outlastsReading: Bool {
        switch self {
        case .notification, .app, .environment: true
        case .devices, .tokens: false
        }
    }

    /// Returns `true` if the stop may concern a notification.
    func mayConcern(_ notification: UUID, app: Int64, isWeb: Bool) -> Bool {
        switch self {
        case .notification(let id): id == notification
        case .app(let id), .devices(_, let id), .tokens(_, let id): id == app
        case .environment(let environment): environment.app == app && !isWeb
        }
    }

    /// Returns `true` if the stop concerns a recipient of a notification that it may concern.
    func concerns(_ recipient: Recipient) -> Bool {
        switch self {
        case .notification, .app: true
        case .environment(let environment): recipient.environment == environment.environment
        case .devices(let devices, _): recipient.device.map(devices.contains) ?? false
        case .tokens(let tokens, _): tokens.contains(recipient.token)
        }
    }
}
